"""All durations of list, watch and discovery."""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from reporter.kube.wire.backoff import BackoffParameters
from reporter.model.observations import WATCH_LOSS_TOLERANCE


@dataclass(frozen=True, slots=True)
class WatchTiming:
    """
    The defaults are those of client-go's reflector (tools/cache/reflector.go) where it has one.

    *rewatch_interval*: the least time between the starts of two watches.
    *idle_timeout*: the time without any event after which a watch is opened anew, as its peer may
    be dead; API servers send a bookmark about once a minute.
    *list_timeout*: for a list, or one page of it.
    *stale_after*: the time without a watch after which a list is needed.
    *watch_timeout_grace*: how much longer than its timeoutSeconds we wait for a watch to end.
    *loss_confirmation_interval*: until discovery confirms that a resource is missing.
    *jitter*: the share by which regular intervals vary.
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
        Return a random timeoutSeconds, so that the watches of many clients do not end together.
        """
        return (
            self.min_watch_timeout
            + (self.max_watch_timeout - self.min_watch_timeout) * random.random()
        )

    def jittered(self, interval: timedelta, random: Random) -> timedelta:
        return interval * random.uniform(1 - self.jitter, 1 + self.jitter)
