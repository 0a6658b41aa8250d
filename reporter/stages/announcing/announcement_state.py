"""The state of announcing as values: running episodes, owed Ready Events and groups."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct, field

from reporter.model.records.event_record import EventRecord
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.announcing.grouping import EventGroup


class Episode(Struct, frozen=True):
    """
    The time from the first announcement of a key to its settled clear.

    *event*: the Event as last sent.
    *uncertain*: the server did not answer the last write, so it is sent again under the same name.
    *rewritten_at*: when the content of the Event last changed.
    *muted*: the key was outranked, suppressed or silenced since the Event was last sent.
    *restored_since*: for an episode that was read back, when this process began to evaluate, or when its
    key was last Unknown since. *is_unknown*: it was so at the last pass.
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
