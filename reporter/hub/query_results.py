"""Gather the answers that decide no state: what blocks, packages, and which clusters there were."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from reporter.hub import queries
from reporter.hub.cluster_reports import ClustersAnswer
from reporter.hub.series import (
    MAX_COUNT,
    MAX_LENGTH,
    MAX_TIME,
    STATES,
    Series,
    Source,
    metric_of,
    parse_value,
    read_replicas,
    source_of,
    text_of,
    to_time,
)
from reporter.model.fleet_status import FleetBlocking, FleetNamespace
from reporter.model.states import State, is_complete
from reporter.model.status_document import Counts, Package, Replicas


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
            replicas=read_replicas(self.numbers),
        )


def gather_trouble(found: Iterable[Series], label: str) -> TroubleAnswer:
    """
    Return what blocks each cluster and its namespaces, by cluster label and source.

    Series without a cluster label, and those about neither a cluster nor a namespace, are passed over.
    """
    builders: defaultdict[str, defaultdict[Source, defaultdict[str, _NamespaceBuilder]]]
    builders = defaultdict(lambda: defaultdict(lambda: defaultdict(_NamespaceBuilder)))
    for each in found:
        labels, (_, text) = each.labels, each.value
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
        labels, (_, text) = each.labels, each.value
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
        labels, (_, text) = each.labels, each.value
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
        cluster, value = each.labels.get(label, ""), parse_value(each.value[1])
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
