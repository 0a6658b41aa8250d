"""
Gather what clusters report: states, numbers and times, by cluster label and source.

A series with a label or value that no reporter writes is dropped and counted: what is left of its cluster
then lacks a state or a time, and is not Current.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.hub import queries
from reporter.hub.series import (
    MAX_COUNT,
    MAX_LENGTH,
    MAX_SHOWN,
    STATES,
    Series,
    Source,
    describe,
    metric_of,
    parse_value,
    read_replicas,
    source_of,
    text_of,
)
from reporter.model.fleet_status import Dropped, DroppedEntry
from reporter.model.states import State, is_complete
from reporter.model.status_document import Replicas, Unobserved


class SourceId(NamedTuple):
    """
    The identity of a report: the *source*, and the *uid* of the cluster that it reports.

    One source has several if it reports several cluster UIDs.
    """

    source: Source
    uid: str


class SourceReport(Struct, frozen=True, gc=False):
    """
    The report of one source on one cluster UID.

    *evaluated*: Unix time of its evaluation. *state*: None if there is none, or several.
    *unobserved*: what it says of the rest of the cluster; None if it says nothing, as earlier releases.
    """

    uid: str
    evaluated: float
    state: State | None = None
    counts: Mapping[State, int] = {}
    replicas: Replicas | None = None
    version: str = ""
    unobserved: Unobserved | None = None


DroppedByCause: TypeAlias = Mapping[Dropped, DroppedEntry]


class ClustersAnswer(Struct, frozen=True):
    """
    A complete answer about the clusters.

    *time*: of the engine; None without any series. *reports*: by cluster label, then by source and UID.
    *series*: how many each cluster label has.
    """

    time: float | None = None
    reports: Mapping[str, Mapping[SourceId, SourceReport]] = field(default_factory=dict)
    series: Mapping[str, int] = field(default_factory=dict)
    dropped: DroppedByCause = field(default_factory=dict)


MAX_NAMES = 20
"""The names that are kept of what is dropped."""


class DroppedCounter:
    """The series of an answer that are left out, counted by cause, with some names for a person."""

    def __init__(self) -> None:
        self._series: defaultdict[Dropped, int] = defaultdict(int)
        self._names: defaultdict[Dropped, dict[str, None]] = defaultdict(dict)

    def add(self, why: Dropped, name: str, series: int = 1) -> None:
        """Count *series* as dropped for *why*. *name*: kept as an example, MAX_NAMES for each cause."""
        self._series[why] += series
        names = self._names[why]
        if len(names) < MAX_NAMES:
            names.setdefault(name)

    def finish(self) -> DroppedByCause:
        """Return the counts with their names, sorted. A cause without series is left out."""
        return {
            why: DroppedEntry(why=why, series=number, names=tuple(sorted(self._names[why])))
            for why, number in self._series.items()
        }


class ReportingSource(Struct, frozen=True, eq=False, gc=False):
    """A source under a cluster label; there is one object of each."""

    cluster: str
    source: Source


class ClusterSeries(Struct, frozen=True, eq=False, gc=False):
    """
    One series of a reporter.

    *metric*: without the prefix of the roll-up. *key*: which of the numbers of that metric it is: a state, or
    the text of the label that tells them apart.
    """

    source: ReportingSource
    metric: str
    key: str


class DroppedSeries(Struct, frozen=True, gc=False):
    """A series that no reporter writes. *name*: by which a person finds it."""

    why: Dropped
    name: str


class KnownSeries:
    """
    The meaning of the labels of each series, by their text in the answer. *label*: the name of the cluster label.

    An engine writes the labels of a series in every answer alike. To read them again in each round would be
    most of its work, and they would take most of its memory.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._known: dict[bytes, ClusterSeries | DroppedSeries] = {}
        self._sources: dict[tuple[str, Source], ReportingSource] = {}

    def __len__(self) -> int:
        return len(self._known)

    def read(self, found: Sequence[Series]) -> Iterator[tuple[ClusterSeries | DroppedSeries, str]]:
        """
        Yield the meaning of each series, and its value as text.

        Raises msgspec.DecodeError for labels that are not those of a series.
        """
        if len(self._known) > GROWTH * len(found):
            self._forget_others(found)
        known = self._known
        for each in found:
            text = bytes(each.metric)
            meaning = known.get(text)
            if meaning is None:
                meaning = known[text] = self._find_meaning(each.labels)
            yield meaning, each.value[1]

    def _forget_others(self, found: Sequence[Series]) -> None:
        known, texts = self._known, (bytes(each.metric) for each in found)
        self._known = {text: known[text] for text in texts if text in known}
        series = (each for each in self._known.values() if isinstance(each, ClusterSeries))
        sources = {each.source for each in series}
        self._sources = {(each.cluster, each.source): each for each in sources}

    def _find_meaning(self, labels: Mapping[str, str]) -> ClusterSeries | DroppedSeries:
        cluster, metric = labels.get(self._label, ""), metric_of(labels)
        if not cluster:
            return DroppedSeries(Dropped.NO_LABEL, describe(labels))
        if len(cluster) > MAX_LENGTH or not cluster.isprintable():  # it is shown in terminals
            return DroppedSeries(Dropped.INVALID, describe(labels))
        key, source = _find_key(metric, labels), (cluster, source_of(labels))
        if key is None:
            return DroppedSeries(Dropped.INVALID, cluster)
        found = self._sources.setdefault(source, ReportingSource(*source))
        # The texts are the same in the series of all clusters.
        key = key if isinstance(key, State) else sys.intern(key)
        return ClusterSeries(found, sys.intern(metric), key)


GROWTH = 1.25
"""The meanings beyond which those of series that are gone are forgotten, as a multiple of the answer's series."""


def _find_key(metric: str, labels: Mapping[str, str]) -> State | str | None:
    """Return which of the numbers of a metric a series is; None if it is none of a reporter."""
    if metric in {queries.STATE, queries.INFERENCE_SETS}:
        state = STATES.get(labels.get("state", ""))
        is_other = metric == queries.STATE and labels.get("scope") != queries.CLUSTER_SCOPE
        return "" if state is not None and is_other else state
    if metric == queries.REPLICAS:
        count = labels.get("count", "")
        return count if count in Replicas.__struct_fields__ else None
    name = _KEY_LABELS.get(metric)
    return None if name is None else text_of(labels, name)


_KEY_LABELS: Mapping[str, str] = {
    queries.EVALUATED: "cluster_uid",
    queries.CLUSTER_INFO: "version",
    queries.UNOBSERVED: "what",
    queries.MISSING_RIGHTS: "right",
}


# ---------------------------------------------------------------- what one source reports


SeriesValues: TypeAlias = Mapping[ClusterSeries, str]
"""The values of series as text."""

K = TypeVar("K", bound=str)
V = TypeVar("V", int, float)


class _Numbers:
    """
    The numbers of one source so far.

    *contradicts*: two series differ in their values alone, so that their targets cannot be told apart. The
    larger value counts then. *invalid*: the series that no reporter writes.
    """

    __slots__ = (
        "contradicts", "counts", "invalid", "numbers", "rights", "states", "unobserved", "versions",
    )  # fmt: skip

    def __init__(self, values: SeriesValues) -> None:
        self.contradicts, self.invalid = False, 0
        self.states: set[State] = set()
        self.counts: dict[State, int] = {}
        self.numbers: dict[str, int] = {}
        self.rights: set[str] = set()
        self.unobserved: dict[str, int] = {}
        self.versions: set[str] = set()
        for each, text in values.items():
            value = parse_value(text)
            if value is not None and _is_valid(each.metric, value):
                self._add(each.metric, each.key, value)
            else:
                self.invalid += 1

    def _add(self, metric: str, key: str, value: float) -> None:
        if isinstance(key, State):
            if metric == queries.INFERENCE_SETS:
                self.contradicts |= _put(self.counts, key, int(value))
            elif value:
                self.states.add(key)
        elif metric == queries.REPLICAS:
            self.contradicts |= _put(self.numbers, key, int(value))
        elif metric == queries.CLUSTER_INFO:
            self.versions.add(key)
        elif metric == queries.UNOBSERVED:
            self.contradicts |= _put(self.unobserved, key, int(value))
        elif metric == queries.MISSING_RIGHTS and value:
            self.rights.add(key)


def _is_valid(metric: str, value: float) -> bool:
    return value in {0, 1} if metric == queries.STATE else 0 <= value <= MAX_COUNT


def _put(values: dict[K, V], key: K, value: V) -> bool:
    """Keep the larger of two values of a key, and return whether they contradict."""
    old = values.get(key, value)
    values[key] = max(old, value)
    return old != value


class _Times(NamedTuple):
    """
    The times of evaluation of one source by cluster UID. *contradicts*, *invalid*: see _Numbers.

    Of two times the later one counts: which series comes first may change from answer to answer, and a time
    that changes thereby would be taken for a new evaluation.
    """

    by_uid: Mapping[str, float]
    contradicts: bool
    invalid: int


def _read_times(values: SeriesValues) -> _Times:
    by_uid: dict[str, float] = {}
    contradicts, invalid = False, 0
    for each, text in values.items():
        value = parse_value(text)
        if value is None:
            invalid += 1
        else:
            contradicts |= _put(by_uid, each.key, value)
    return _Times(by_uid, contradicts, invalid)


class _Reading(NamedTuple):
    """
    The reports of a source but for the times of evaluation, and the *values* that they were read from.

    *valid*, *invalid*: how many of these series count, and how many are none of a reporter.
    """

    values: SeriesValues
    valid: int
    invalid: int
    state: State | None
    counts: Mapping[State, int]
    replicas: Replicas | None
    version: str
    unobserved: Unobserved | None


def _read_source(values: SeriesValues) -> _Reading:
    found = _Numbers(values)
    is_one = len(found.states) == 1 and not found.contradicts
    counts = found.counts if is_complete(found.counts) else {}
    return _Reading(
        values,
        len(values) - found.invalid,
        found.invalid,
        next(iter(found.states)) if is_one else None,
        counts,
        read_replicas(found.numbers),
        next(iter(found.versions)) if len(found.versions) == 1 else "",
        _find_unobserved(found, counts),
    )


def _find_unobserved(numbers: _Numbers, counts: Mapping[State, int]) -> Unobserved | None:
    found = Unobserved(
        namespaces=numbers.unobserved.get(queries.UNKNOWN_NAMESPACES, 0),
        inference_sets=counts.get(State.UNKNOWN, 0),
        unlisted=not counts or bool(numbers.unobserved.get(queries.UNLISTED_LAYERS)),
        missing_rights=tuple(sorted(numbers.rights)[:MAX_SHOWN]),
    )
    says_all = {queries.UNKNOWN_NAMESPACES, queries.UNLISTED_LAYERS} <= numbers.unobserved.keys()
    return found if says_all or found != Unobserved() else None


# ---------------------------------------------------------------- an answer


class ClusterReportReader:
    """
    Reads the answers about clusters, one after the other. *label*: the name of the cluster label.

    From answer to answer little changes but the times of evaluation, so only that is read again.
    """

    def __init__(self, label: str) -> None:
        self._known = KnownSeries(label)
        self._readings: Mapping[ReportingSource, _Reading] = {}

    def read(self, found: Sequence[Series], time: float | None) -> ClustersAnswer:
        """
        Return what each source reports, by cluster label.

        *time*: of the engine, None without series. Series that no reporter writes are dropped and
        counted. Raises msgspec.DecodeError for labels that are not those of a series.
        """
        values: defaultdict[ReportingSource, dict[ClusterSeries, str]] = defaultdict(dict)
        times: defaultdict[ReportingSource, dict[ClusterSeries, str]] = defaultdict(dict)
        dropped = DroppedCounter()
        for each, text in self._known.read(found):
            if isinstance(each, DroppedSeries):
                dropped.add(each.why, each.name)
                continue
            of_source = (times if each.metric == queries.EVALUATED else values)[each.source]
            # One that is there twice may contradict itself.
            of_source[each if each not in of_source else replace(each)] = text
        self._readings = {
            source: self._read_source(source, values.get(source, {}))
            for source in dict.fromkeys((*values, *times))
        }
        reports: defaultdict[str, dict[SourceId, SourceReport]] = defaultdict(dict)
        series: defaultdict[str, int] = defaultdict(int)
        for source, reading in self._readings.items():
            found_times = times.get(source, {})
            evaluated = _read_times(found_times)
            valid = reading.valid + len(found_times) - evaluated.invalid
            invalid = reading.invalid + evaluated.invalid
            if invalid:
                dropped.add(Dropped.INVALID, source.cluster, invalid)
            if valid:
                series[source.cluster] += valid
                reports[source.cluster].update(_reports(source.source, reading, evaluated))
        return ClustersAnswer(time, dict(reports), dict(series), dropped.finish())

    def _read_source(self, source: ReportingSource, values: SeriesValues) -> _Reading:
        before = self._readings.get(source)
        return before if before is not None and before.values == values else _read_source(values)


def _reports(
    source: Source, reading: _Reading, evaluated: _Times
) -> Iterator[tuple[SourceId, SourceReport]]:
    state = None if evaluated.contradicts else reading.state
    for uid, time in evaluated.by_uid.items():
        report = SourceReport(
            uid,
            time,
            state,
            reading.counts,
            reading.replicas,
            reading.version,
            reading.unobserved,
        )
        yield SourceId(source, uid), report
