"""
Gather the series of answers by cluster label and source.

A series of the query *clusters* with a label or value that no reporter writes is dropped and counted: what
is left of its cluster then lacks a state or a time, and is not Current. The other queries decide no state.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

from reporter.hub import queries
from reporter.model.fleet_status import Dropped, DroppedEntry, FleetBlocking, FleetNamespace
from reporter.model.states import COUNTED_STATES, State, is_complete
from reporter.model.status_document import Counts, Package, Replicas, Unobserved


class Series(Struct, gc=False):
    """One series of an instant vector. *value*: the time of the sample, and its value as text."""

    metric: dict[str, str]
    value: tuple[float, str]


# ---------------------------------------------------------------- labels and values


Source: TypeAlias = str
"""
The target labels of series, as one text: what one replica exposes to one scraper has the same ones.
"""

STATES: Mapping[str, State] = {each.key: each for each in COUNTED_STATES}
"""The states by the value of the label ``state``."""

MAX_LENGTH = 253
"""The longest cluster label that is taken: that of the name of an object."""

MAX_SHOWN = 100
MAX_COUNT = 2**31
MAX_TIME = 253_402_300_799
"""The last second of the year 9999, which is the last of datetime."""

UNIT, PAIR = "\x1f", "="


def source_of(labels: Mapping[str, str]) -> Source:
    """Return what identifies the source of a series. The cluster label is a part of it."""
    own = queries.METRIC_LABELS
    return UNIT.join(
        sorted(f"{name}{PAIR}{text}" for name, text in labels.items() if name not in own)
    )


def describe(labels: Mapping[str, str]) -> str:
    """Return a text by which a person finds where a series without a cluster label comes from."""
    uid = labels.get("cluster_uid", "")
    target = [f"{name}={labels[name]}" for name in ("job", "instance", "pod") if labels.get(name)]
    shown = ([f"cluster_uid={uid}"] if uid else []) + target
    text = " ".join(shown)[:MAX_SHOWN] or "no target labels"
    return text if text.isprintable() else ascii(text)


def text_of(labels: Mapping[str, str], name: str) -> str:
    """
    Return the value of a label, cut after MAX_LENGTH characters; empty without the label.

    Characters that a terminal would interpret are replaced with spaces.
    """
    text = labels.get(name, "")[:MAX_LENGTH]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def metric_of(labels: Mapping[str, str]) -> str:
    """
    Return the name of the metric of a series without the prefix of the roll-up; empty if it has no name.
    """
    return labels.get(queries.NAME, "").removeprefix(queries.PREFIX)


def parse_value(text: Any) -> float | None:
    """Return a finite number; None for anything else. A NaN would differ from itself for ever."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def to_time(seconds: float | None) -> datetime | None:
    """
    Return the moment of a Unix time; None without one, before 1970 or after 9999, as clocks may be wrong.
    """
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


# ---------------------------------------------------------------- clusters


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

    def add(self, metric: str, labels: Mapping[str, str], value: float) -> bool:
        """Take a series; return False if it is none of a reporter."""
        if metric in {queries.STATE, queries.INFERENCE_SETS}:
            return self._add_state(metric, labels, value)
        if metric == queries.REPLICAS:
            count = labels.get("count", "")
            if count not in Replicas.__struct_fields__:
                return False
            self._put(self.numbers, count, int(value))
        elif metric == queries.EVALUATED:
            self._put(self.times, text_of(labels, "cluster_uid"), value)
        elif metric == queries.CLUSTER_INFO:
            self.versions.add(text_of(labels, "version"))
        elif metric == queries.UNOBSERVED:
            self._put(self.unobserved, text_of(labels, "what"), int(value))
        elif metric == queries.MISSING_RIGHTS:
            self.rights |= {text_of(labels, "right")} if value else set()
        else:
            return False
        return True

    def _add_state(self, metric: str, labels: Mapping[str, str], value: float) -> bool:
        state = STATES.get(labels.get("state", ""))
        if state is None:
            return False
        if metric == queries.INFERENCE_SETS:
            self._put(self.counts, state, int(value))
        elif value not in {0, 1}:
            return False
        elif labels.get("scope") == queries.CLUSTER_SCOPE and value:
            self.states.add(state)
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
        replicas, unobserved = _replicas(self.numbers), self._find_unobserved(counts)
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


def _replicas(numbers: dict[str, int]) -> Replicas | None:
    return Replicas(**numbers) if "desired" in numbers else None


def gather_clusters(found: Iterable[Series], label: str, time: float | None) -> ClustersAnswer:
    """
    Return what each source reports, by cluster label. *label*: the name of that label.

    *time*: of the engine, None without series. Series that no reporter writes are dropped and counted.
    """
    sources: defaultdict[str, defaultdict[Source, _SourceBuilder]]
    sources = defaultdict(lambda: defaultdict(_SourceBuilder))
    series: defaultdict[str, int] = defaultdict(int)
    dropped = DroppedCounter()
    for each in found:
        labels, (_, text) = each.metric, each.value
        cluster, value, metric = labels.get(label, ""), parse_value(text), metric_of(labels)
        if not cluster:
            dropped.add(Dropped.NO_LABEL, describe(labels))
        elif len(cluster) > MAX_LENGTH or not cluster.isprintable():  # it is shown in terminals
            dropped.add(Dropped.INVALID, describe(labels))
        elif value is None or not (metric == queries.EVALUATED or 0 <= value <= MAX_COUNT):
            dropped.add(Dropped.INVALID, cluster)
        elif sources[cluster][source_of(labels)].add(metric, labels, value):
            series[cluster] += 1
        else:
            dropped.add(Dropped.INVALID, cluster)
    reports = {
        cluster: {
            each: report
            for source, builder in builders.items()
            for each, report in builder.reports(source)
        }
        for cluster, builders in sources.items()
    }
    return ClustersAnswer(time, reports, dict(series), dropped.finish())


# ---------------------------------------------------------------- what blocks


class ClusterTrouble(NamedTuple):
    """The blocking causes of a cluster, and of its namespaces that are not Current, by name."""

    blocking: FleetBlocking | None = None
    namespaces: tuple[FleetNamespace, ...] = ()


TroubleAnswer: TypeAlias = Mapping[str, Mapping[Source, ClusterTrouble]]


class _NamespaceBuilder:
    """
    The report on one workload namespace, or control plane, so far.

    Where several causes contradict, the first by text counts. Of silences the earliest end does: one that
    is not certain hides nothing.
    """

    __slots__ = ("causes", "counts", "numbers", "package", "silenced", "states")

    def __init__(self) -> None:
        self.states: set[State] = set()
        self.causes: set[tuple[str, str, str, bool]] = set()
        self.silenced: set[float] = set()
        self.counts: dict[State, int] = {}
        self.numbers: dict[str, int] = {}
        self.package: Package | None = None

    def add(self, metric: str, labels: Mapping[str, str], value: float) -> None:
        state = STATES.get(labels.get("state", ""), State.UNKNOWN)
        if metric == queries.STATE:
            self.states |= {state} if value else set()
        elif metric == queries.BLOCKING_INFO:
            reason, code = text_of(labels, "reason"), text_of(labels, "code")
            is_stalled = labels.get("stalled") == "true"
            self.causes.add((reason, code, text_of(labels, "actionability"), is_stalled))
        elif metric == queries.SILENCED_UNTIL:
            self.silenced.add(value)
        elif metric == queries.INFERENCE_SETS:
            self.counts[state] = int(value)
        elif metric == queries.REPLICAS and labels.get("count") in Replicas.__struct_fields__:
            self.numbers[labels["count"]] = int(value)
        elif metric == queries.PACKAGE_INFO:
            revision = text_of(labels, "revision")
            self.package = Package(name=text_of(labels, "package"), revision=revision)

    def blocking(self) -> FleetBlocking | None:
        if not self.causes:
            return None
        reason, code, actionability, is_stalled = min(self.causes)
        return FleetBlocking(
            reason=reason,
            code=code,
            actionability=actionability,
            stalled=is_stalled,
            silenced_until=to_time(min(self.silenced, default=0.0) or None),
        )

    def trouble(self, name: str) -> FleetNamespace:
        """Return the namespace with its worst state."""
        state = max(self.states, key=lambda each: each.severity, default=State.UNKNOWN)
        return FleetNamespace(name=name, state=state, blocking=self.blocking())

    def detail(self, name: str) -> FleetNamespace:
        """Return the namespace with all that is known of it. Of several states none counts."""
        return FleetNamespace(
            name=name,
            state=next(iter(self.states)) if len(self.states) == 1 else State.UNKNOWN,
            blocking=self.blocking(),
            package=self.package,
            inference_sets=Counts.of(self.counts) if is_complete(self.counts) else None,
            replicas=_replicas(self.numbers),
        )


def gather_trouble(found: Iterable[Series], label: str) -> TroubleAnswer:
    """
    Return what blocks each cluster and its namespaces, by cluster label and source.

    Series without a cluster label, and those about neither a cluster nor a namespace, are passed over.
    """
    builders: defaultdict[str, defaultdict[Source, defaultdict[str, _NamespaceBuilder]]]
    builders = defaultdict(lambda: defaultdict(lambda: defaultdict(_NamespaceBuilder)))
    for each in found:
        labels, (_, text) = each.metric, each.value
        cluster, name = labels.get(label, ""), text_of(labels, "workload_namespace")
        if cluster and (name or labels.get("scope") == queries.CLUSTER_SCOPE):
            builder = builders[cluster][source_of(labels)][name]
            builder.add(metric_of(labels), labels, parse_value(text) or 0.0)
    return {
        cluster: {source: _trouble_of(names) for source, names in sources.items()}
        for cluster, sources in builders.items()
    }


def _trouble_of(builders: dict[str, _NamespaceBuilder]) -> ClusterTrouble:
    cluster = builders.pop("", _NamespaceBuilder())
    return ClusterTrouble(
        cluster.blocking(),
        tuple(
            each.trouble(name)
            for name, each in sorted(builders.items())
            if each.states or each.causes
        ),
    )


def gather_namespaces(found: Iterable[Series], source: Source) -> tuple[FleetNamespace, ...]:
    """
    Return all workload namespaces that one source reports, by name. *source*: the one that counts.
    """
    builders: defaultdict[str, _NamespaceBuilder] = defaultdict(_NamespaceBuilder)
    for each in found:
        labels, (_, text) = each.metric, each.value
        name, value = text_of(labels, "workload_namespace"), parse_value(text)
        metric = metric_of(labels)
        most = MAX_TIME if metric == queries.SILENCED_UNTIL else MAX_COUNT
        if name and value is not None and 0 <= value <= most and source_of(labels) == source:
            builders[name].add(metric, labels, value)
    return tuple(each.detail(name) for name, each in sorted(builders.items()))


# ---------------------------------------------------------------- packages


PackageKey: TypeAlias = tuple[str, str, State]
"""A package with its revision and the state of workload namespaces that have it."""

RevisionsAnswer: TypeAlias = Mapping[str, Mapping[PackageKey, int]]


def gather_revisions(found: Iterable[Series], label: str) -> RevisionsAnswer:
    """Return the numbers of workload namespaces of each package, by cluster label."""
    packages: defaultdict[str, defaultdict[PackageKey, int]]
    packages = defaultdict(lambda: defaultdict(int))
    for each in found:
        labels, (_, text) = each.metric, each.value
        cluster, value = labels.get(label, ""), parse_value(text)
        if cluster and value is not None and 0 < value <= MAX_COUNT:
            state = STATES.get(labels.get("state", ""), State.UNKNOWN)
            key = text_of(labels, "package"), text_of(labels, "revision"), state
            packages[cluster][key] += int(value)
    return {cluster: dict(each) for cluster, each in packages.items()}


# ---------------------------------------------------------------- history


HistoryAnswer: TypeAlias = Mapping[str, float]
"""Seconds since each cluster was last there, by its label."""


def gather_history(found: Iterable[Series], label: str, time: float | None) -> HistoryAnswer:
    """Return how long ago each cluster was last there. *time*: of the engine, None without series."""
    ages: dict[str, float] = {}
    for each in found:
        cluster, value = each.metric.get(label, ""), parse_value(each.value[1])
        is_label = bool(cluster) and len(cluster) <= MAX_LENGTH and cluster.isprintable()
        if is_label and value is not None and time is not None:
            ages[cluster] = max(time - value, 0.0)
    return ages


class Answers(NamedTuple):
    """The answers of one round; None for a query without a complete one, or that was not asked."""

    clusters: ClustersAnswer | None = None
    trouble: TroubleAnswer | None = None
    revisions: RevisionsAnswer | None = None
    history: HistoryAnswer | None = None
