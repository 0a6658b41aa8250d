"""
The series that the metrics pages of all commands have, in the text format of Prometheus.
"""

from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from reporter.model.enums import ClosedConnection
from reporter.sinks.metrics.collectors import (
    PermissionCollector,
    PermissionReport,
    WatchCollector,
    WatchReport,
)
from reporter.sinks.metrics.declaration import MetricDeclaration
from reporter.sinks.metrics.declarations import (
    CLOCK_SKEW,
    CLOCK_SPREAD,
    CLOSED_CONNECTIONS,
    EVENT_LOOP_LAG,
)


class ProcessMetrics:
    """
    The series of a process that watches an API server and serves HTTP.
    """

    def __init__(self, watches: Callable[[], Iterable[WatchReport]]) -> None:
        # A second series, `_created`, for each counter and histogram tells nobody anything here.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(WatchCollector(watches))
        self._permissions = PermissionCollector()
        self.registry.register(self._permissions)
        self._loop_lag = self._histogram(EVENT_LOOP_LAG)
        self._clock_skew, self._clock_spread = self._gauge(CLOCK_SKEW), self._gauge(CLOCK_SPREAD)
        self._closed_connections = self._counter(CLOSED_CONNECTIONS, ClosedConnection)

    def _histogram(self, declaration: MetricDeclaration) -> Histogram:
        return Histogram(
            declaration.full_name,
            declaration.help,
            declaration.labels,
            registry=self.registry,
            buckets=declaration.buckets,
        )

    def _gauge(self, declaration: MetricDeclaration) -> Gauge:
        return Gauge(declaration.full_name, declaration.help, registry=self.registry)

    def _counter(self, declaration: MetricDeclaration, results: Iterable[str]) -> Counter:
        """
        Return a counter with a zero for every result, so that the first increase is seen.
        """
        counter = Counter(
            declaration.full_name, declaration.help, declaration.labels, registry=self.registry
        )
        for result in results:
            counter.labels(result)
        return counter

    def set_clock_functions(
        self, *, skew: Callable[[], float], spread: Callable[[], float]
    ) -> None:
        self._clock_skew.set_function(skew)
        self._clock_spread.set_function(spread)

    def set_permissions_function(self, report: Callable[[], PermissionReport]) -> None:
        self._permissions.report = report

    def observe_loop_lag(self, seconds: float) -> None:
        self._loop_lag.observe(seconds)

    def count_closed_connection(self, cause: ClosedConnection) -> None:
        self._closed_connections.labels(cause).inc()

    def render(self) -> bytes:
        return generate_latest(self.registry)
