"""Apply the outcome of a write to the state of announcing."""

from enum import Enum, unique

from msgspec.structs import replace

from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import EventType
from reporter.model.records.event_record import EventRecord
from reporter.stages.announcing.announcement_state import AnnouncementState, Episode, OwedReady


@unique
class WriteOutcome(Enum):
    """The outcome of one write."""

    WRITTEN = "written"
    UNCERTAIN = "uncertain"  # sent, but no answer
    DROPPED = "dropped"  # the server will never accept it


def apply_outcome(
    state: AnnouncementState, record: EventRecord, outcome: WriteOutcome, catalogue: Catalogue
) -> AnnouncementState:
    """
    Return the state after this write was made, or dropped.

    A write with an unknown outcome counts as announced: its name is deterministic, so sending it
    again cannot create a second Event.
    """
    if record.type is EventType.NORMAL:
        return _apply_ready_outcome(state, record, outcome)
    key, episodes = record.key, dict(state.episodes)
    before = episodes.get(key)
    rewritten_at = before.rewritten_at if before is not None else None
    if before is not None and (
        before.muted or before.event.content_digest != record.content_digest
    ):
        rewritten_at = record.last_timestamp
    # A dropped write has an episode as well: the same content is not tried again on every pass.
    episodes[key] = Episode(
        record, uncertain=outcome is WriteOutcome.UNCERTAIN, rewritten_at=rewritten_at
    )
    ready_owed = dict(state.ready_owed)
    if outcome is not WriteOutcome.DROPPED and not catalogue[key.reason].orthogonal:
        written, second = record.last_timestamp, record.last_timestamp.replace(microsecond=0)
        owed = ready_owed.get(key.subject, OwedReady(written, second))
        ready_owed[key.subject] = OwedReady(
            max(owed.due_at, written), max(owed.announced_at, second)
        )
    return replace(state, episodes=episodes, ready_owed=ready_owed)


def _apply_ready_outcome(
    state: AnnouncementState, record: EventRecord, outcome: WriteOutcome
) -> AnnouncementState:
    """
    Return the state after a Ready Event was written, or dropped.

    Trouble that was announced while this write was on its way is owed another Ready.
    """
    key = record.key
    episodes, ready_owed = dict(state.episodes), dict(state.ready_owed)
    if outcome is WriteOutcome.UNCERTAIN:
        # Kept for the name of the Event, under which it is sent again.
        episodes[key] = Episode(record, uncertain=True)
    else:
        episodes.pop(key, None)
        owed = ready_owed.get(key.subject)
        if owed is not None and owed.announced_at <= record.episode_start:
            del ready_owed[key.subject]
    return replace(state, episodes=episodes, ready_owed=ready_owed)
