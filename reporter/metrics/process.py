"""The series that the metrics pages of all commands have, and those of the catalogue's overlay."""

import platform
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum, unique
from http import HTTPStatus
from typing import NamedTuple, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from reporter import PROGRAM_VERSION
from reporter.metrics import declarations
from reporter.metrics.declarations import MetricDeclaration
from reporter.metrics.input_collectors import InputCollector, InputReport
from reporter.model.enums import ClosedConnection
from reporter.process.clock import Clock


_STATUS_CODES = frozenset(int(each) for each in HTTPStatus)

R = TypeVar("R", bound=StrEnum)


class Exposition(NamedTuple):
    """The samples of one moment. *encode* formats them, which may be done by another thread."""

    content_type: str
    encode: Callable[[], bytes]


class _Collected(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


class ProcessMetrics:
    """
    The series of a process that watches an API server and serves HTTP.

    *inputs* returns the state of all that is read, at each scrape. *count_closed_connection* counts a
    connection of an HTTP client that the server closed early, by its cause.
    """

    def __init__(self, inputs: Callable[[], InputReport], clock: Clock) -> None:
        # The `_created` series of counters and histograms would only add to the page.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(InputCollector(inputs))
        versions = PROGRAM_VERSION, platform.python_version()
        self._gauge(declarations.BUILD_INFO).labels(*versions).set(1)
        self._api_requests = self._counter(declarations.API_REQUESTS, ())
        self._loop_lag = self._histogram(declarations.EVENT_LOOP_LAG)
        self._gauge(declarations.CLOCK_SKEW).set_function(lambda: clock.skew)
        self._gauge(declarations.CLOCK_SPREAD).set_function(lambda: clock.spread)
        self.count_closed_connection = self._result_counter(
            declarations.CLOSED_CONNECTIONS, ClosedConnection
        )

    def _histogram(self, declaration: MetricDeclaration) -> Histogram:
        return Histogram(
            declaration.full_name,
            declaration.help,
            declaration.labels,
            registry=self.registry,
            buckets=declaration.buckets,
        )

    def _gauge(self, declaration: MetricDeclaration) -> Gauge:
        return Gauge(
            declaration.full_name, declaration.help, declaration.labels, registry=self.registry
        )

    def _counter(self, declaration: MetricDeclaration, results: Iterable[str]) -> Counter:
        """Return a counter with a zero for every result, so that the first increase is seen."""
        counter = Counter(
            declaration.full_name, declaration.help, declaration.labels, registry=self.registry
        )
        for result in results:
            counter.labels(result)
        return counter

    def _result_counter(
        self, declaration: MetricDeclaration, results: type[R]
    ) -> Callable[[R], None]:
        """Return a function that counts a result, in a counter with a zero for every one."""
        counter = self._counter(declaration, results)
        return lambda result: counter.labels(result).inc()

    def observe_loop_lag(self, seconds: float) -> None:
        """Observe for how many seconds the event loop was busy without a break."""
        self._loop_lag.observe(seconds)

    def count_api_request(self, verb: str, status: int | None) -> None:
        """Count a request to the API server. *status*: of the response, None without one."""
        # A pod behind the API server's proxy may answer with any number.
        known = str(status) if status in _STATUS_CODES else "other"
        self._api_requests.labels(verb, "error" if status is None else known).inc()

    def expose(self, accept: str) -> Exposition:
        """
        Return the page in the format that an Accept header asks for: OpenMetrics, or plain text.
        """
        try:
            encode, content_type = choose_encoder(accept)
        except TypeError:  # prometheus_client compares a version of letters with numbers
            encode, content_type = choose_encoder("")
        collected, collect_rest = tuple(self.registry.collect()), self._prepare()

        def encode_all() -> bytes:
            return encode(_Collected((*collected, *collect_rest())))

        return Exposition(content_type, encode_all)

    def _prepare(self) -> Callable[[], Iterable[Metric]]:
        """
        Return a function that collects further samples as of now, when the page is formatted.
        """
        return tuple


@unique
class ReloadResult(StrEnum):
    """The result of loading a changed overlay. The values are those of a label."""

    APPLIED = "applied"
    REFUSED = "refused"
