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
from reporter.model.samples import ScrapeResult
from reporter.model.subjects import Key
from reporter.stages.judgement import Judgement
from reporter.stages.states import State, states


PREFIX = "productionstack_status_reporter_"
LABELS = ("layer", "reason", "namespace")
RESULTS = (
    "created",
    "patched",
    "found",
    "expired",
    "refused",
    "throttled",
    "uncertain",
    "failed",
    "dropped",
)


@dataclass(frozen=True, slots=True)
class WatchReport:
    """
    What the metrics page says of the watch of one kind.

    *silence*: seconds since its last sign of life, None before the first.
    """

    kind: str
    watching: bool
    silence: float | None
    objects: int
    relists: int
    restarts: int
    undecodable: int


class Metrics:
    """
    Told of passes and writes; asks for the rest when it is scraped.
    """

    def __init__(self, catalogue: Catalogue, watches: Callable[[], Iterable[WatchReport]]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._judged = Judgement()
        self.registry.register(_States(catalogue, lambda: self._judged))
        self.registry.register(_Watches(watches))
        self._passes = Histogram(
            f"{PREFIX}pass_duration_seconds",
            "How long passes took.",
            registry=self.registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
        )
        self._holds = Histogram(
            f"{PREFIX}loop_hold_seconds",
            "For how long the event loop was held at a time, while all else had to wait.",
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
        )
        self._last = self._gauge("last_pass_timestamp_seconds", "When the last pass was finished.")
        self._leader = self._gauge("leader", "Whether this process speaks.")
        self._writes = self._counter(
            "event_writes", "Requests to write an Event, by result.", RESULTS
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

    def leads(self, leading: Callable[[], bool]) -> None:
        self._leader.set_function(lambda: float(leading()))

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None:
        self._judged = after
        self._passes.observe(took.total_seconds())
        self._last.set_to_current_time()

    def held(self, seconds: float) -> None:
        self._holds.observe(seconds)

    def wrote(self, result: str) -> None:
        self._writes.labels(result).inc()

    def scraped(self, result: ScrapeResult) -> None:
        self._scrapes.labels(result).inc()

    def page(self) -> bytes:
        """
        In the text format of Prometheus.
        """
        return generate_latest(self.registry)


class _States(Collector):
    """
    The state of every reason, by namespace of its subject ("" for the cluster).

    A series that was ever shown stays: an alert on it must see the zero.
    """

    def __init__(self, catalogue: Catalogue, judged: Callable[[], Judgement]) -> None:
        self._judged = judged
        entries = catalogue.entries.values()
        self._ever: set[tuple[str, str, str]] = {
            (e.layer, e.reason, "") for e in entries if not e.ready
        }

    def collect(self) -> Iterator[Metric]:
        judged = self._judged()
        now = states(judged)
        spoken = frozenset(k for k in now if k in judged.gate.records and _found(judged, k))
        series = self._series(now)
        yield _family(
            "finding", "Whether trouble outlived its hold (1) or not (0).", series, spoken
        )
        for state in (State.HELD, State.SUPPRESSED, State.UNKNOWN):
            held = frozenset(key for key, each in now.items() if each is state)
            yield _family(state, _HELP[state], series, held)

    def _series(self, now: Mapping[Key, State]) -> list[tuple[str, str, str]]:
        self._ever.update(_labels(key) for key in now)
        return sorted(self._ever)


_HELP = {
    State.HELD: "Trouble that has not lasted long enough to be said.",
    State.SUPPRESSED: "Trouble that is not said, as it follows from an upstream that is out.",
    State.UNKNOWN: "Whether the reason cannot be judged now.",
}


def _found(judged: Judgement, key: Key) -> bool:
    return judged.gate.records[key].through


def _labels(key: Key) -> tuple[str, str, str]:
    return (key.subject.layer, key.reason, key.subject.namespace)


def _family(
    name: str, text: str, series: Iterable[tuple[str, str, str]], keys: Iterable[Key]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{PREFIX}{name}", text, labels=LABELS)
    there = Count(_labels(key) for key in keys)
    for labels in series:
        family.add_metric(labels, float(bool(there[labels])))
    return family


class _Watches(Collector):
    def __init__(self, watches: Callable[[], Iterable[WatchReport]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        reports = list(self._watches())
        for name, text, value in _GAUGES:
            yield _filled(GaugeMetricFamily(PREFIX + name, text, labels=("kind",)), reports, value)
        for name, text, value in _COUNTERS:
            yield _filled(
                CounterMetricFamily(PREFIX + name, text, labels=("kind",)), reports, value
            )


Value = Callable[[WatchReport], float | None]

_GAUGES: tuple[tuple[str, str, Value], ...] = (
    ("watching", "Whether a watch of the kind is open.", lambda r: float(r.watching)),
    ("watch_silence_seconds", "Time since the watch last said anything.", lambda r: r.silence),
    ("objects", "Objects kept of the kind.", lambda r: float(r.objects)),
)
_COUNTERS: tuple[tuple[str, str, Value], ...] = (
    ("relists", "Complete lists of the kind.", lambda r: float(r.relists)),
    ("watch_restarts", "Watches opened after the first.", lambda r: float(r.restarts)),
    ("undecodable", "Objects that could not be decoded.", lambda r: float(r.undecodable)),
)

Family = TypeVar("Family", GaugeMetricFamily, CounterMetricFamily)


def _filled(family: Family, reports: Iterable[WatchReport], value: Value) -> Family:
    for report in reports:
        number = value(report)
        if number is not None:
            family.add_metric((report.kind,), number)
    return family
