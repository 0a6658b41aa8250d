"""The series of the HealthEvent store, which are there while it is switched on."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from reporter.kinds.health_events import HealthEvent, Phase, StoreLimit, StoreWriteResult
from reporter.metrics import declarations
from reporter.metrics.input_collectors import make_family


class StoreMetrics(Collector):
    """
    Collects the series of the HealthEvent store.

    *objects* returns those of this program. *is_up*: returns whether they are watched and written.
    *count_store_write* counts a request to create, patch or delete one, *count_rejected* an episode that
    got none.
    """

    def __init__(
        self,
        objects: Callable[[], Iterable[HealthEvent]],
        is_up: Callable[[], bool],
        *,
        count_store_write: Callable[[StoreWriteResult], None],
        count_rejected: Callable[[StoreLimit], None],
    ) -> None:
        self._objects, self._is_up = objects, is_up
        self.count_store_write, self.count_rejected = count_store_write, count_rejected

    def collect(self) -> Iterator[Metric]:
        """Yield whether the store is up, and the number of HealthEvents by phase, zeros included."""
        phases = Tally(each.phase for each in self._objects())
        yield make_family(declarations.STORE_UP, [((), float(self._is_up()))])
        yield make_family(
            declarations.STORE_OBJECTS, [((phase.value,), phases[phase]) for phase in Phase]
        )
