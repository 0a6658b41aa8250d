"""The series of the HealthEvent store, which are there while it is switched on."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import Counter
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from reporter.kinds.health_events import HealthEvent, Phase, StoreLimit, StoreWriteResult
from reporter.metrics import declarations
from reporter.metrics.input_collectors import make_family


class StoreMetrics(Collector):
    """
    Collects the series of the HealthEvent store.

    *objects* returns those of this program. *is_up*: returns whether they are watched and written.
    """

    def __init__(
        self, objects: Callable[[], Iterable[HealthEvent]], *, writes: Counter, rejected: Counter
    ) -> None:
        self._objects, self._writes, self._rejected = objects, writes, rejected
        self.is_up: Callable[[], bool] = lambda: False

    def collect(self) -> Iterator[Metric]:
        """Yield whether the store is up, and the number of HealthEvents by phase, zeros included."""
        phases = Tally(each.phase for each in self._objects())
        yield make_family(declarations.STORE_UP, [((), float(self.is_up()))])
        yield make_family(
            declarations.STORE_OBJECTS, [((phase.value,), phases[phase]) for phase in Phase]
        )

    def count_store_write(self, result: StoreWriteResult) -> None:
        """Count one request to create, patch or delete a HealthEvent, by its result."""
        self._writes.labels(result).inc()

    def count_rejected(self, limit: StoreLimit) -> None:
        """Count an episode that got no HealthEvent, by the limit: of its node, or of the cluster."""
        self._rejected.labels(limit).inc()
