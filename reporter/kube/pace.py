"""
All durations of watching, in one value.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from reporter.kube.backoff import Growth
from reporter.stages.snapshot import BLIND_AFTER


@dataclass(frozen=True, slots=True)
class Pace:
    """
    The defaults are those of client-go where it has one.

    *silence*: a watch says nothing for so long that its peer may be dead; API servers send a
    bookmark about once a minute. *listing*: how long a list may take, or a page of one. *blind*: how
    long without a watch until nothing is judged by what it last said. *spread*: by how much regular
    actions are jittered.
    """

    growth: Growth = field(default_factory=Growth)
    rewatch: timedelta = timedelta(seconds=1)
    silence: timedelta = timedelta(seconds=90)
    listing: timedelta = timedelta(seconds=60)
    shortest_watch: timedelta = timedelta(minutes=5)
    longest_watch: timedelta = timedelta(minutes=10)
    blind: timedelta = BLIND_AFTER
    overdue: timedelta = timedelta(seconds=30)
    relist: timedelta = timedelta(minutes=30)
    discovery: timedelta = timedelta(seconds=30)
    second_look: timedelta = timedelta(seconds=11)
    discovery_spacing: timedelta = timedelta(seconds=1)
    spread: float = 0.05

    def watch(self, random: Random) -> timedelta:
        """
        How long to let a watch run, so that those of many clients do not end together.
        """
        return self.shortest_watch + (self.longest_watch - self.shortest_watch) * random.random()

    def jittered(self, regular: timedelta, random: Random) -> timedelta:
        return regular * random.uniform(1 - self.spread, 1 + self.spread)
