"""The dependencies that discovery, reflectors and the scraper share."""

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Protocol

from reporter.kube.client.client import RestClient
from reporter.kube.watch.recovery import Recovery
from reporter.kube.watch.timing import WatchTiming


class PassiveClock(Protocol):
    """Reads the time, in UTC."""

    def now(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class WatchContext:
    """
    Everything that watches share.

    *random* adds jitter to pauses, so that replicas and kinds do not act in step.
    """

    api: RestClient
    clock: PassiveClock
    timing: WatchTiming = field(default_factory=WatchTiming)
    random: Random = field(default_factory=Random)
    recovery: Recovery = field(default_factory=Recovery)
