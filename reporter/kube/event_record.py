"""An Event of this program as a value, as it is written and read back."""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum, unique
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.announced import Announced
from reporter.model.enums import EventType, Owner, Reason
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import InvolvedObject


@unique
class WriteResult(StrEnum):
    """The result of one request to write an Event, by which metrics count it."""

    CREATED = "created"
    PATCHED = "patched"
    FOUND = "found"  # an earlier create had arrived although its answer was lost
    EXPIRED = "expired"  # gone after its TTL; created anew
    REFUSED = "refused"  # by permissions, a quota or admission; retried
    THROTTLED = "throttled"
    UNCERTAIN = "uncertain"  # sent without an answer; sent again under the same name
    FAILED = "failed"
    DROPPED = "dropped"  # invalid, so never accepted; not retried


class StrippedEvent(Struct, frozen=True):
    """An Event without its labels and annotations, which admission has removed."""

    reason: Reason
    involved_name: str
    message: str


PossibleKeysFunc: TypeAlias = Callable[[StrippedEvent], Iterable[FindingKey]]
"""Returns the keys that a stripped Event may be about; the Event's name decides which one it is."""


def no_keys(event: StrippedEvent) -> Iterable[FindingKey]:
    """
    Return nothing, for a client that knows no subjects and cannot say what a stripped Event is about.
    """
    return ()


class EventRecord(Struct, frozen=True):
    """
    The Event of one episode.

    *episode_start*: the second of its first announcement; the Event's name and labels carry it.
    *content_digest*: digest of cause and suffixes, so that another replica sees if these changed;
    empty if it is not known.
    *first_timestamp*, *last_timestamp*, *count*: as in the Event; the last is a whole second.
    *owner*: who must act; None for a Ready, and if it is not known.
    *announced*: for the process that reads the Event back; None for a Ready, and if it is not known.
    """

    key: FindingKey
    type: EventType
    involved_object: InvolvedObject
    episode_start: datetime
    message: str
    content_digest: str
    count: int
    first_timestamp: datetime
    last_timestamp: datetime
    owner: Owner | None = None
    announced: Announced | None = None

    def rewrite(self, message: str, content_digest: str, *, now: datetime) -> "EventRecord":
        """
        Return the Event for one more write, with its count one higher and *now* as its lastTimestamp.
        """
        return replace(
            self,
            message=message,
            content_digest=content_digest,
            count=self.count + 1,
            last_timestamp=now,
        )
