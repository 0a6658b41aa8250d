"""The state of announcing as values: running episodes, owed Ready Events and groups."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum, unique
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.announcing.grouping import EventGroup
from reporter.catalogue.entries import Catalogue
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey, Subject


class Episode(Struct, frozen=True):
    """
    The time from the first announcement of a key to its settled clear.

    *event*: the Event as last sent.
    *uncertain*: the server did not answer the last write, so it is sent again under the same name.
    *rewritten_at*: when the content of the Event last changed.
    *muted*: the key was outranked, suppressed or silenced since the Event was last sent.
    *restored_since*: the moment since which an episode that was read back can settle: when this process
    began to evaluate, or when its key was last Unknown. None for one that began in this process.
    *is_unknown*: its key was Unknown at the last pass.
    """

    event: EventRecord
    uncertain: bool = False
    rewritten_at: datetime | None = None
    muted: bool = False
    restored_since: datetime | None = None
    is_unknown: bool = False


class OwedReady(NamedTuple):
    """
    A Ready Event that is owed.

    *due_at*: the earliest time for it. *announced_at*: the second of the last write about its subject's
    trouble, which gives the Ready its name: of two leaders that both write it, the second finds it.
    """

    due_at: datetime
    announced_at: datetime


class AnnouncementState(Struct, frozen=True):
    """
    Everything that was announced and is not over.

    *ready_owed*: subjects with an announced finding and no Ready Event since.
    *groups*: the Events that stand for many InferenceSets of one namespace.
    """

    episodes: Mapping[FindingKey, Episode] = field(default_factory=dict)
    ready_owed: Mapping[Subject, OwedReady] = field(default_factory=dict)
    groups: Mapping[FindingKey, EventGroup] = field(default_factory=dict)


# --------------------------------------------------------------------
# Apply the outcome of a write to the state of announcing.


@unique
class WriteOutcome(Enum):
    """The outcome of one write of an Event: it is there, it may be there, or it never will be."""

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
