"""
All durations of watching, in one value.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from reporter.kube.wire.backoff import BackoffParameters
from reporter.model.observations import WATCH_LOSS_TOLERANCE


@dataclass(frozen=True, slots=True)
class WatchTiming:
    """
    The defaults are those of client-go where it has one.

    *silence*: a watch says nothing for so long that its peer may be dead; API servers send a
    bookmark about once a minute. *listing*: how long a list may take, or a page of one. *blind*: how
    long without a watch until nothing is judged by what it last said. *spread*: by how much regular
    actions are jittered.
    """

    backoff: BackoffParameters = field(default_factory=BackoffParameters)
    rewatch_interval: timedelta = timedelta(seconds=1)
    idle_timeout: timedelta = timedelta(seconds=90)
    list_timeout: timedelta = timedelta(seconds=60)
    min_watch_timeout: timedelta = timedelta(minutes=5)
    max_watch_timeout: timedelta = timedelta(minutes=10)
    stale_after: timedelta = WATCH_LOSS_TOLERANCE
    watch_timeout_grace: timedelta = timedelta(seconds=30)
    relist_interval: timedelta = timedelta(minutes=30)
    discovery_interval: timedelta = timedelta(seconds=30)
    loss_confirmation_interval: timedelta = timedelta(seconds=11)
    min_discovery_interval: timedelta = timedelta(seconds=1)
    jitter: float = 0.05

    def watch_timeout(self, random: Random) -> timedelta:
        """
        How long to let a watch run, so that those of many clients do not end together.
        """
        return (
            self.min_watch_timeout
            + (self.max_watch_timeout - self.min_watch_timeout) * random.random()
        )

    def jittered(self, regular: timedelta, random: Random) -> timedelta:
        return regular * random.uniform(1 - self.jitter, 1 + self.jitter)
