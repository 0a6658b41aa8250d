"""
Collectors that compute their series at each scrape, from the last evaluation and the reflectors.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reporter.model.entries import Catalogue
from reporter.model.subjects import FindingKey
from reporter.sinks.metrics.declaration import MetricDeclaration, MetricType
from reporter.sinks.metrics.declarations import (
    DECODE_ERRORS,
    FINDING,
    HELD,
    MISSING_RIGHTS,
    OBJECTS,
    RELISTS,
    SCRAPE_PAGES,
    SUPPRESSED,
    UNKNOWN,
    UNKNOWN_RIGHTS,
    WATCH_LAST_EVENT_AGE,
    WATCH_MISSED,
    WATCH_RESTARTS,
    WATCH_UP,
)
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.evaluation.states import ReasonState, reason_states


FindingLabels: TypeAlias = tuple[str, str, str]
"""
The values of FINDING_LABELS.
"""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """
    The state of the watch of one kind.

    *last_event_age*: seconds since the watch last delivered anything, None before the first time.
    """

    kind: str
    watching: bool
    last_event_age: float | None
    objects: int
    relists: int
    restarts: int
    decode_errors: int
    missed_events: int


class FindingCollector(Collector):
    """
    The state of every reason, by namespace of its subjects.

    The namespace is "" for the cluster, and for what stands for all subjects of a layer that may
    exist. A series that was shown once is shown while its layer has subjects in its namespace: an
    alert resolves on a zero. It goes with the last of them, so that what is deleted costs nothing.
    """

    def __init__(self, catalogue: Catalogue, evaluation: Callable[[], Evaluation]) -> None:
        self._evaluation = evaluation
        entries = catalogue.entries.values()
        self._seen_series: set[FindingLabels] = {
            (e.layer, e.reason, "") for e in entries if not e.is_ready_reason
        }

    def collect(self) -> Iterator[Metric]:
        evaluation = self._evaluation()
        states = reason_states(evaluation)
        self._seen_series.update(_labels_of(key) for key in states)
        existing = {(subject.layer, subject.namespace) for subject in evaluation.subjects}
        self._seen_series = {
            each for each in self._seen_series if not each[2] or (each[0], each[2]) in existing
        }
        series = sorted(self._seen_series)
        yield _finding_family(FINDING, series, _past_hold(evaluation, states))
        for declaration, state in _STATE_GAUGES:
            keys = (key for key, each in states.items() if each is state)
            yield _finding_family(declaration, series, keys)


_STATE_GAUGES = (
    (HELD, ReasonState.HELD),
    (SUPPRESSED, ReasonState.SUPPRESSED),
    (UNKNOWN, ReasonState.UNKNOWN),
)


def _past_hold(evaluation: Evaluation, keys: Iterable[FindingKey]) -> Iterator[FindingKey]:
    finding_states = evaluation.gate.finding_states
    return (key for key in keys if key in finding_states and finding_states[key].past_hold)


def _labels_of(key: FindingKey) -> FindingLabels:
    return (key.subject.layer, key.reason, key.subject.namespace)


def _finding_family(
    declaration: MetricDeclaration, series: Sequence[FindingLabels], keys: Iterable[FindingKey]
) -> Metric:
    ones: AbstractSet[FindingLabels] = {_labels_of(key) for key in keys}
    return make_family(declaration, ((labels, float(labels in ones)) for labels in series))


class WatchCollector(Collector):
    """
    The state of every watch, one series for each kind.
    """

    def __init__(self, watches: Callable[[], Iterable[WatchReport]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        reports = list(self._watches())
        for declaration, value_of in _WATCH_VALUES.items():
            values = ((report.kind, value_of(report)) for report in reports)
            yield make_family(
                declaration, (((kind,), value) for kind, value in values if value is not None)
            )


_WATCH_VALUES: Mapping[MetricDeclaration, Callable[[WatchReport], float | None]] = {
    WATCH_UP: lambda report: report.watching,
    WATCH_LAST_EVENT_AGE: lambda report: report.last_event_age,
    OBJECTS: lambda report: report.objects,
    RELISTS: lambda report: report.relists,
    WATCH_RESTARTS: lambda report: report.restarts,
    WATCH_MISSED: lambda report: report.missed_events,
    DECODE_ERRORS: lambda report: report.decode_errors,
}


class ScrapeCollector(Collector):
    """
    The metrics pages to be read, by the outcome of the last attempt.

    *count_pages*: returns their number by outcome.
    """

    def __init__(self) -> None:
        self.count_pages: Callable[[], Mapping[str, int]] = dict

    def collect(self) -> Iterator[Metric]:
        counts = self.count_pages().items()
        samples = (((outcome,), float(number)) for outcome, number in counts)
        yield make_family(SCRAPE_PAGES, samples)


@dataclass(frozen=True, slots=True)
class PermissionReport:
    """
    *is_missing*: by verb and resource. *unknown*: those whose last review had no answer.
    """

    is_missing: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    unknown: int = 0


class PermissionCollector(Collector):
    """
    The permissions that are needed. *report*: returns what is known of them.
    """

    def __init__(self) -> None:
        self.report: Callable[[], PermissionReport] = PermissionReport

    def collect(self) -> Iterator[Metric]:
        report = self.report()
        yield make_family(MISSING_RIGHTS, report.is_missing.items())
        yield make_family(UNKNOWN_RIGHTS, [((), report.unknown)])


def make_family(
    declaration: MetricDeclaration, samples: Iterable[tuple[Sequence[str], float]]
) -> Metric:
    counts = declaration.type is MetricType.COUNTER
    family_type = CounterMetricFamily if counts else GaugeMetricFamily
    family: CounterMetricFamily | GaugeMetricFamily = family_type(
        declaration.full_name, declaration.help, labels=declaration.labels
    )
    for labels, value in samples:
        family.add_metric(labels, float(value))
    return family
