"""
Gather the series of the query *clusters* by cluster label and source.

A series with a label or value that no reporter writes is dropped and counted: what is left of its
cluster then lacks a state or a time, and is not Current.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from reporter.model.fleet_answers import (
    ClustersAnswer,
    DroppedSeries,
    SeriesSample,
    Source,
    SourceId,
    SourceReport,
)
from reporter.model.fleet_status import Dropped
from reporter.model.states import COUNTED_STATES, State, is_complete
from reporter.model.status_document import Replicas


NAME = "__name__"
PREFIX = "productionstack_status_reporter_rollup_"
"""
The prefix of the metrics of the status. A test compares it and the names with their declarations.
"""

STATE, INFERENCE_SETS, REPLICAS = "state", "inferencesets", "replicas"
PACKAGE_INFO, BLOCKING_INFO, CLUSTER_INFO = "package_info", "blocking_info", "cluster_info"
SILENCED_UNTIL = "blocking_silenced_until_timestamp_seconds"
EVALUATED = "evaluated_timestamp_seconds"

CLUSTER_SCOPE, NAMESPACE_SCOPE = "cluster", "namespace"
"""The values of the label ``scope``."""

METRIC_LABELS = frozenset(
    {
        NAME, "scope", "workload_namespace", "state", "count", "package", "revision", "reason",
        "code", "actionability", "stalled", "version", "cluster_uid",
    }
)  # fmt: skip
"""The labels of the metrics themselves. All others are of the target, or of the pipeline."""

STATES: Mapping[str, State] = {each.key: each for each in COUNTED_STATES}
"""The states by the value of the label ``state``."""

MAX_LENGTH = 253
"""The longest cluster label that is taken: that of the name of an object."""

MAX_SHOWN = 100
UNIT, PAIR = "\x1f", "="


def source_of(labels: Mapping[str, str]) -> Source:
    """Return what identifies the source of a series. The cluster label is a part of it."""
    return UNIT.join(
        sorted(f"{name}{PAIR}{text}" for name, text in labels.items() if name not in METRIC_LABELS)
    )


def describe(labels: Mapping[str, str]) -> str:
    """Return a text by which a person finds where a series without a cluster label comes from."""
    uid = labels.get("cluster_uid", "")
    target = [f"{name}={labels[name]}" for name in ("job", "instance", "pod") if labels.get(name)]
    shown = ([f"cluster_uid={uid}"] if uid else []) + target
    text = " ".join(shown)[:MAX_SHOWN] or "no target labels"
    return text if text.isprintable() else ascii(text)


def text_of(labels: Mapping[str, str], name: str) -> str:
    """Return the text of a label, fit to be shown in a terminal."""
    text = labels.get(name, "")[:MAX_LENGTH]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def is_valid(label: str) -> bool:
    """
    Return whether a text may be the name of a cluster: it is shown in terminals and on pages.
    """
    return len(label) <= MAX_LENGTH and label.isprintable()


MAX_NAMES = 20
"""The names that are kept of what is dropped."""

MAX_COUNT = 2**31

K = TypeVar("K")
V = TypeVar("V", int, float)


class DroppedCounter:
    """Counts what is dropped, with some names."""

    def __init__(self) -> None:
        self._series: defaultdict[Dropped, int] = defaultdict(int)
        self._names: defaultdict[Dropped, dict[str, None]] = defaultdict(dict)

    def add(self, why: Dropped, name: str, series: int = 1) -> None:
        self._series[why] += series
        names = self._names[why]
        if len(names) < MAX_NAMES:
            names.setdefault(name)

    def finish(self) -> Mapping[Dropped, DroppedSeries]:
        return {
            why: DroppedSeries(number, tuple(sorted(self._names[why])))
            for why, number in self._series.items()
        }


class _Draft:
    """
    The report of one source so far.

    *contradicts*: two series differ in their values alone, so that their targets cannot be told apart.
    The larger value counts then: which series comes first may change from answer to answer, and a time
    that changes thereby would be taken for a new evaluation.
    """

    __slots__ = ("contradicts", "counts", "numbers", "states", "times", "versions")

    def __init__(self) -> None:
        self.contradicts = False
        self.times: dict[str, float] = {}
        self.states: set[State] = set()
        self.counts: dict[State, int] = {}
        self.numbers: dict[str, int] = {}
        self.versions: set[str] = set()

    def add(self, metric: str, labels: Mapping[str, str], value: float) -> bool:
        """Take a series; return False if it is none of a reporter."""
        if metric in {STATE, INFERENCE_SETS}:
            return self._add_state(metric, labels, value)
        if metric == REPLICAS:
            return self._add_replicas(labels, value)
        if metric == EVALUATED:
            self._put(self.times, text_of(labels, "cluster_uid"), value)
        elif metric == CLUSTER_INFO:
            self.versions.add(text_of(labels, "version"))
        else:
            return False
        return True

    def _add_state(self, metric: str, labels: Mapping[str, str], value: float) -> bool:
        state = STATES.get(labels.get("state", ""))
        if state is None:
            return False
        if metric == INFERENCE_SETS:
            self._put(self.counts, state, int(value))
        elif value not in {0, 1}:
            return False
        elif labels.get("scope") == CLUSTER_SCOPE and value:
            self.states.add(state)
        return True

    def _add_replicas(self, labels: Mapping[str, str], value: float) -> bool:
        count = labels.get("count", "")
        if count not in Replicas.__struct_fields__:
            return False
        self._put(self.numbers, count, int(value))
        return True

    def _put(self, values: dict[K, V], key: K, value: V) -> None:
        old = values.get(key, value)
        self.contradicts |= old != value
        values[key] = max(old, value)

    def reports(self, source: Source) -> Iterable[tuple[SourceId, SourceReport]]:
        is_one = len(self.states) == 1 and not self.contradicts
        state = next(iter(self.states)) if is_one else None
        version = next(iter(self.versions)) if len(self.versions) == 1 else ""
        counts = self.counts if is_complete(self.counts) else {}
        for uid, time in self.times.items():
            report = SourceReport(uid, time, state, counts, self._replicas(), version)
            yield SourceId(source, uid), report

    def _replicas(self) -> Replicas | None:
        if "desired" not in self.numbers:
            return None
        return Replicas(**self.numbers)


def gather_clusters(
    samples: Iterable[SeriesSample], label: str, time: float | None
) -> ClustersAnswer:
    """Return what each source reports. *label*: the name of the cluster label."""
    drafts: defaultdict[str, defaultdict[Source, _Draft]]
    drafts = defaultdict(lambda: defaultdict(_Draft))
    series: defaultdict[str, int] = defaultdict(int)
    dropped = DroppedCounter()
    for labels, text in samples:
        cluster = labels.get(label, "")
        value = parse_value(text)
        metric = labels.get(NAME, "").removeprefix(PREFIX)
        if not cluster:
            dropped.add(Dropped.NO_LABEL, describe(labels))
        elif not is_valid(cluster):
            dropped.add(Dropped.INVALID, describe(labels))
        elif value is None or not _fits(metric, value):
            dropped.add(Dropped.INVALID, cluster)
        elif drafts[cluster][source_of(labels)].add(metric, labels, value):
            series[cluster] += 1
        else:
            dropped.add(Dropped.INVALID, cluster)
    reports = {
        cluster: {
            each: report
            for source, draft in sources.items()
            for each, report in draft.reports(source)
        }
        for cluster, sources in drafts.items()
    }
    return ClustersAnswer(time, reports, dict(series), dropped.finish())


def _fits(metric: str, value: float) -> bool:
    return metric == EVALUATED or 0 <= value <= MAX_COUNT


def parse_value(text: Any) -> float | None:
    """Return a finite number; None for anything else. A NaN would differ from itself for ever."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
