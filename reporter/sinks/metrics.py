"""
The metrics page.

Every series of the catalogue is there from the start, and what has gone reads zero instead of
vanishing. Labels come from closed sets and namespaces; pods and InferenceSets are no labels.
"""

from collections import Counter as Count
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reporter.model.entries import Catalogue
from reporter.model.event_record import WriteResult
from reporter.model.samples import ScrapeResult
from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.evaluation.states import ReasonState, reason_states


PREFIX = "productionstack_status_reporter_"
LABELS = ("layer", "reason", "workload_namespace")


@dataclass(frozen=True, slots=True)
class WatchReport:
    """
    What the metrics page says of the watch of one kind.

    *silence*: seconds since its last sign of life, None before the first.
    """

    kind: str
    watching: bool
    last_event_age: float | None
    objects: int
    relists: int
    restarts: int
    decode_errors: int


class Metrics:
    """
    Told of passes and writes; asks for the rest when it is scraped.
    """

    def __init__(self, catalogue: Catalogue, watches: Callable[[], Iterable[WatchReport]]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._evaluation = Evaluation()
        self.registry.register(_StateCollector(catalogue, lambda: self._evaluation))
        self.registry.register(_WatchCollector(watches))
        self._passes = Histogram(
            f"{PREFIX}pass_duration_seconds",
            "How long passes took.",
            registry=self.registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
        )
        self._loop_lag = Histogram(
            f"{PREFIX}event_loop_lag_seconds",
            "For how long the event loop was held at a time, while all else had to wait.",
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
        )
        self._last_pass = self._gauge(
            "last_pass_timestamp_seconds", "When the last pass was finished."
        )
        self._leader = self._gauge("leader", "Whether this process speaks.")
        self._writes = self._counter(
            "event_writes", "Requests to write an Event, by result.", WriteResult
        )
        self._scrapes = self._counter(
            "scrapes", "Attempts to read the page of a pod, by result.", ScrapeResult
        )
        text = "Reasons of the catalogue that cannot be judged yet, as their probe is missing."
        self._gauge("pending_reasons", text).set(len(catalogue.pending))

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(PREFIX + name, text, registry=self.registry)

    def _counter(self, name: str, text: str, results: Iterable[str]) -> Counter:
        """
        With a series for every result from the start.
        """
        counter = Counter(PREFIX + name, text, ["result"], registry=self.registry)
        for result in results:
            counter.labels(result)
        return counter

    def set_leader_function(self, leading: Callable[[], bool]) -> None:
        self._leader.set_function(lambda: float(leading()))

    def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None:
        self._evaluation = after
        self._passes.observe(took.total_seconds())
        self._last_pass.set_to_current_time()

    def observe_loop_lag(self, seconds: float) -> None:
        self._loop_lag.observe(seconds)

    def count_write(self, result: WriteResult) -> None:
        self._writes.labels(result).inc()

    def count_scrape(self, result: ScrapeResult) -> None:
        self._scrapes.labels(result).inc()

    def render(self) -> bytes:
        """
        In the text format of Prometheus.
        """
        return generate_latest(self.registry)


class _StateCollector(Collector):
    """
    The state of every reason, by namespace of its subject ("" for the cluster).

    A series that was ever shown stays: an alert on it must see the zero.
    """

    def __init__(self, catalogue: Catalogue, judged: Callable[[], Evaluation]) -> None:
        self._evaluation = judged
        entries = catalogue.entries.values()
        self._seen_series: set[tuple[str, str, str]] = {
            (e.layer, e.reason, "") for e in entries if not e.is_ready_reason
        }

    def collect(self) -> Iterator[Metric]:
        judged = self._evaluation()
        now = reason_states(judged)
        spoken = frozenset(
            k for k in now if k in judged.gate.finding_states and _is_past_hold(judged, k)
        )
        series = self._series(now)
        yield _state_family(
            "finding", "Whether trouble outlived its hold (1) or not (0).", series, spoken
        )
        for state in (ReasonState.HELD, ReasonState.SUPPRESSED, ReasonState.UNKNOWN):
            held = frozenset(key for key, each in now.items() if each is state)
            yield _state_family(state, _STATE_HELP[state], series, held)

    def _series(self, now: Mapping[FindingKey, ReasonState]) -> list[tuple[str, str, str]]:
        self._seen_series.update(_labels_of(key) for key in now)
        return sorted(self._seen_series)


_STATE_HELP = {
    ReasonState.HELD: "Trouble that has not lasted long enough to be said.",
    ReasonState.SUPPRESSED: "Trouble that is not said, as it follows from an upstream that is out.",
    ReasonState.UNKNOWN: "Whether the reason cannot be judged now.",
}


def _is_past_hold(judged: Evaluation, key: FindingKey) -> bool:
    return judged.gate.finding_states[key].past_hold


def _labels_of(key: FindingKey) -> tuple[str, str, str]:
    return (key.subject.layer, key.reason, key.subject.namespace)


def _state_family(
    name: str, text: str, series: Iterable[tuple[str, str, str]], keys: Iterable[FindingKey]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{PREFIX}{name}", text, labels=LABELS)
    there = Count(_labels_of(key) for key in keys)
    for labels in series:
        family.add_metric(labels, float(bool(there[labels])))
    return family


class _WatchCollector(Collector):
    def __init__(self, watches: Callable[[], Iterable[WatchReport]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        reports = list(self._watches())
        for name, text, value in _WATCH_GAUGES:
            yield _with_samples(
                GaugeMetricFamily(PREFIX + name, text, labels=("kind",)), reports, value
            )
        for name, text, value in _WATCH_COUNTERS:
            yield _with_samples(
                CounterMetricFamily(PREFIX + name, text, labels=("kind",)), reports, value
            )


WatchValue = Callable[[WatchReport], float | None]

_WATCH_GAUGES: tuple[tuple[str, str, WatchValue], ...] = (
    ("watch_up", "Whether a watch of the kind is open.", lambda r: float(r.watching)),
    (
        "watch_last_event_age_seconds",
        "Time since the watch last said anything.",
        lambda r: r.last_event_age,
    ),
    ("objects", "Objects kept of the kind.", lambda r: float(r.objects)),
)
_WATCH_COUNTERS: tuple[tuple[str, str, WatchValue], ...] = (
    ("relists", "Complete lists of the kind.", lambda r: float(r.relists)),
    ("watch_restarts", "Watches opened after the first.", lambda r: float(r.restarts)),
    ("decode_errors", "Objects that could not be decoded.", lambda r: float(r.decode_errors)),
)

Family = TypeVar("Family", GaugeMetricFamily, CounterMetricFamily)


def _with_samples(family: Family, reports: Iterable[WatchReport], value: WatchValue) -> Family:
    for report in reports:
        number = value(report)
        if number is not None:
            family.add_metric((report.kind,), number)
    return family
