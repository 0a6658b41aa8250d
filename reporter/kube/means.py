"""
What all who watch the API server work with.
"""

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Protocol

from reporter.kube.client import Api
from reporter.kube.pace import Pace


class Clock(Protocol):
    """
    *now* in UTC.
    """

    def now(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Means:
    """
    *random* jitters pauses, so that replicas and kinds do not act in step.
    """

    api: Api
    clock: Clock
    pace: Pace = field(default_factory=Pace)
    random: Random = field(default_factory=Random)
