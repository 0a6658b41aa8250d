"""
An Event of ours as a value: what is written, and what is read back.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum, unique

from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import InvolvedObject


@unique
class WriteResult(StrEnum):
    """
    The result of one request to write an Event.
    """

    CREATED = "created"
    PATCHED = "patched"
    FOUND = "found"  # an earlier create had arrived although its answer was lost
    EXPIRED = "expired"  # gone after its TTL; created anew
    REFUSED = "refused"  # by permissions, a quota or admission; retried
    THROTTLED = "throttled"
    UNCERTAIN = "uncertain"  # sent without an answer; sent again under the same name
    FAILED = "failed"
    DROPPED = "dropped"  # invalid, so never accepted; not retried


@dataclass(frozen=True, slots=True)
class EventRecord:
    """
    One Event of one episode.

    *episode*: the second of its first announcement; name and labels carry it.
    *told*: digest of cause and suffixes, so that a successor knows whether these changed.
    *first*, *last*, *count*: as in the Event; *last* is a whole second.
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

    def rewrite(self, message: str, told: str, *, now: datetime) -> "EventRecord":
        """
        The same Event, said once more.
        """
        return replace(
            self, message=message, content_digest=told, count=self.count + 1, last_timestamp=now
        )
