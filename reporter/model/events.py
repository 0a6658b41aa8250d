"""
An Event of ours as a value: what is written, and what is read back.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from reporter.model.subjects import Key
from reporter.model.verdicts import Involved
from reporter.model.words import EventType


@dataclass(frozen=True, slots=True)
class EventRecord:
    """
    One Event of one episode.

    *episode*: the second of its first announcement; name and labels carry it.
    *told*: digest of cause and suffixes, so that a successor knows whether these changed.
    *first*, *last*, *count*: as in the Event; *last* is a whole second.
    """

    key: Key
    type: EventType
    involved: Involved
    episode: datetime
    message: str
    told: str
    count: int
    first: datetime
    last: datetime

    def again(self, message: str, told: str, *, now: datetime) -> "EventRecord":
        """
        The same Event, said once more.
        """
        return replace(self, message=message, told=told, count=self.count + 1, last=now)
