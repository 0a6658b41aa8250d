"""
Gather what clusters report: states, numbers and times, by cluster label and source.

A series with a label or value that no reporter writes is dropped and counted: what is left of its cluster
then lacks a state or a time, and is not Current.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

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


class SourceReport(NamedTuple):
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


class ClusterSeries(Struct, frozen=True, gc=False):
    """
    One series of a reporter.

    *metric*: without the prefix of the roll-up. *key*: which of the numbers of that metric it is: a state, or
    the text of the label that tells them apart.
    """

    cluster: str
    source: Source
    metric: str
    key: State | str


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

    def __len__(self) -> int:
        return len(self._known)

    def read(self, found: Sequence[Series]) -> Iterator[tuple[ClusterSeries | DroppedSeries, str]]:
        """
        Yield the meaning of each series, and its value as text.

        Raises msgspec.DecodeError for labels that are not those of a series.
        """
        known = self._known
        if len(known) > GROWTH * len(found):
            texts = (bytes(each.metric) for each in found)
            known = self._known = {text: known[text] for text in texts if text in known}
        for each in found:
            text = bytes(each.metric)
            meaning = known.get(text)
            if meaning is None:
                meaning = known[text] = _find_meaning(each.labels, self._label)
            yield meaning, each.value[1]


GROWTH = 1.25
"""The meanings beyond which those of series that are gone are forgotten, as a multiple of the answer's series."""


def _find_meaning(labels: Mapping[str, str], label: str) -> ClusterSeries | DroppedSeries:
    cluster, metric = labels.get(label, ""), metric_of(labels)
    if not cluster:
        return DroppedSeries(Dropped.NO_LABEL, describe(labels))
    if len(cluster) > MAX_LENGTH or not cluster.isprintable():  # it is shown in terminals
        return DroppedSeries(Dropped.INVALID, describe(labels))
    key = _find_key(metric, labels)
    if key is None:
        return DroppedSeries(Dropped.INVALID, cluster)
    # The texts are the same in the other series of the cluster, or of all clusters.
    key = key if isinstance(key, State) else sys.intern(key)
    return ClusterSeries(
        sys.intern(cluster), sys.intern(source_of(labels)), sys.intern(metric), key
    )


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


K = TypeVar("K")
V = TypeVar("V", int, float)


class _SourceBuilder:
    """
    The report of one source so far.

    *contradicts*: two series differ in their values alone, so that their targets cannot be told apart.
    The larger value counts then: which series comes first may change from answer to answer, and a time
    that changes thereby would be taken for a new evaluation.
    """

    __slots__ = (
        "contradicts", "counts", "numbers", "rights", "states", "times", "unobserved", "versions",
    )  # fmt: skip

    def __init__(self) -> None:
        self.contradicts = False
        self.times: dict[str, float] = {}
        self.states: set[State] = set()
        self.counts: dict[State, int] = {}
        self.numbers: dict[str, int] = {}
        self.rights: set[str] = set()
        self.unobserved: dict[str, int] = {}
        self.versions: set[str] = set()

    def add(self, metric: str, key: State | str, value: float) -> bool:
        """Take a number; return False if it is none of a reporter."""
        if isinstance(key, State):
            if metric == queries.INFERENCE_SETS:
                self._put(self.counts, key, int(value))
            elif value == 1:
                self.states.add(key)
        elif metric == queries.REPLICAS:
            self._put(self.numbers, key, int(value))
        elif metric == queries.EVALUATED:
            self._put(self.times, key, value)
        elif metric == queries.CLUSTER_INFO:
            self.versions.add(key)
        elif metric == queries.UNOBSERVED:
            self._put(self.unobserved, key, int(value))
        elif metric == queries.MISSING_RIGHTS and value:
            self.rights.add(key)
        return metric != queries.STATE or value in {0, 1}

    def _put(self, values: dict[K, V], key: K, value: V) -> None:
        old = values.get(key, value)
        self.contradicts |= old != value
        values[key] = max(old, value)

    def reports(self, source: Source) -> Iterable[tuple[SourceId, SourceReport]]:
        is_one = len(self.states) == 1 and not self.contradicts
        state = next(iter(self.states)) if is_one else None
        version = next(iter(self.versions)) if len(self.versions) == 1 else ""
        counts = self.counts if is_complete(self.counts) else {}
        replicas, unobserved = read_replicas(self.numbers), self._find_unobserved(counts)
        for uid, time in self.times.items():
            report = SourceReport(uid, time, state, counts, replicas, version, unobserved)
            yield SourceId(source, uid), report

    def _find_unobserved(self, counts: Mapping[State, int]) -> Unobserved | None:
        found = Unobserved(
            namespaces=self.unobserved.get(queries.UNKNOWN_NAMESPACES, 0),
            inference_sets=counts.get(State.UNKNOWN, 0),
            unlisted=not counts or bool(self.unobserved.get(queries.UNLISTED_LAYERS)),
            missing_rights=tuple(sorted(self.rights)[:MAX_SHOWN]),
        )
        says_all = {queries.UNKNOWN_NAMESPACES, queries.UNLISTED_LAYERS} <= self.unobserved.keys()
        return found if says_all or found != Unobserved() else None


def gather_clusters(
    found: Sequence[Series], known: KnownSeries, time: float | None
) -> ClustersAnswer:
    """
    Return what each source reports, by cluster label.

    *time*: of the engine, None without series. Series that no reporter writes are dropped and counted.
    Raises msgspec.DecodeError for labels that are not those of a series.
    """
    sources: defaultdict[str, defaultdict[Source, _SourceBuilder]]
    sources = defaultdict(lambda: defaultdict(_SourceBuilder))
    series: defaultdict[str, int] = defaultdict(int)
    dropped = DroppedCounter()
    for meaning, text in known.read(found):
        if isinstance(meaning, DroppedSeries):
            dropped.add(meaning.why, meaning.name)
            continue
        cluster, metric, value = meaning.cluster, meaning.metric, parse_value(text)
        if value is None or not (metric == queries.EVALUATED or 0 <= value <= MAX_COUNT):
            dropped.add(Dropped.INVALID, cluster)
        elif sources[cluster][meaning.source].add(metric, meaning.key, value):
            series[cluster] += 1
        else:
            dropped.add(Dropped.INVALID, cluster)
    # Each is freed when its report is there: they take several times the memory of the reports.
    reports = {
        cluster: {
            each: report
            for source, builder in sources.pop(cluster).items()
            for each, report in builder.reports(source)
        }
        for cluster in tuple(sources)
    }
    return ClustersAnswer(time, reports, dict(series), dropped.finish())
