"""
What became of a write, and what that means for what was said.
"""

from dataclasses import replace
from enum import Enum, unique

from reporter.model.entries import Catalogue
from reporter.model.enums import EventType
from reporter.model.event_record import EventRecord
from reporter.stages.announcing.episodes import AnnouncementState, Episode


@unique
class WriteOutcome(Enum):
    """
    What became of a write.
    """

    WRITTEN = "written"
    UNCERTAIN = "uncertain"  # sent, but no answer
    DROPPED = "dropped"  # the server will never take it


def apply_outcome(
    voice: AnnouncementState, record: EventRecord, outcome: WriteOutcome, catalogue: Catalogue
) -> AnnouncementState:
    """
    Take what became of a write. One whose outcome is not known counts as announced.
    """
    key, sent = record.key, outcome is not WriteOutcome.DROPPED
    episodes, owed = dict(voice.episodes), dict(voice.ready_owed)
    if record.type is EventType.NORMAL:
        if outcome is WriteOutcome.UNCERTAIN:
            episodes[key] = Episode(record, uncertain=True)
        else:
            episodes.pop(key, None)
            owed.pop(key.subject, None)
        return replace(voice, episodes=episodes, ready_owed=owed)
    before = episodes.get(key)
    changed = before is not None and before.event.content_digest != record.content_digest
    rewritten = before.rewritten_at if before is not None else None
    if changed or (before is not None and before.muted):
        rewritten = record.last_timestamp
    episodes[key] = Episode(
        record, uncertain=outcome is WriteOutcome.UNCERTAIN, rewritten_at=rewritten
    )
    if sent and not catalogue[key.reason].orthogonal:
        owed.setdefault(key.subject, record.last_timestamp)
    return replace(voice, episodes=episodes, ready_owed=owed)
