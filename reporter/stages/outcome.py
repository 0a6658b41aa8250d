"""
What became of a write, and what that means for what was said.
"""

from dataclasses import replace
from enum import Enum, unique

from reporter.model.entries import Catalogue
from reporter.model.events import EventRecord
from reporter.model.words import EventType
from reporter.stages.voice import Episode, Voice


@unique
class Outcome(Enum):
    """
    What became of a write.
    """

    WRITTEN = "written"
    UNCERTAIN = "uncertain"  # sent, but no answer
    DROPPED = "dropped"  # the server will never take it


def tell(voice: Voice, record: EventRecord, outcome: Outcome, catalogue: Catalogue) -> Voice:
    """
    Take what became of a write. One whose outcome is not known counts as announced.
    """
    key, sent = record.key, outcome is not Outcome.DROPPED
    episodes, owed = dict(voice.episodes), dict(voice.owed)
    if record.type is EventType.NORMAL:
        if outcome is Outcome.UNCERTAIN:
            episodes[key] = Episode(record, uncertain=True)
        else:
            episodes.pop(key, None)
            owed.pop(key.subject, None)
        return replace(voice, episodes=episodes, owed=owed)
    before = episodes.get(key)
    changed = before is not None and before.record.told != record.told
    rewritten = before.rewritten if before is not None else None
    if changed or (before is not None and before.silent):
        rewritten = record.last
    episodes[key] = Episode(record, uncertain=outcome is Outcome.UNCERTAIN, rewritten=rewritten)
    if sent and not catalogue[key.reason].orthogonal:
        owed.setdefault(key.subject, record.last)
    return replace(voice, episodes=episodes, owed=owed)
