"""
The series of the status: of the cluster, and of each workload namespace if that is asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple, TypeAlias

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from reporter.metrics import declarations
from reporter.metrics.input_collectors import make_family
from reporter.model.enums import Layer, Owner
from reporter.model.states import COUNTED_STATES, Actionability, State
from reporter.model.status_document import Replicas
from reporter.rollup import records
from reporter.settings import RollUpScope


Samples: TypeAlias = Iterable[tuple[tuple[str, ...], float]]

CLUSTER, NAMESPACE = "cluster", "namespace"
"""The values of the label ``scope``."""

UNKNOWN_NAMESPACES, UNLISTED_LAYERS = "namespaces", "layers"
"""The values of the label ``what``."""


class Shown(NamedTuple):
    """
    The numbers and states of the cluster, or of one workload namespace, from which its series are made.

    *scope*: CLUSTER or NAMESPACE. *name*: of the namespace; empty for the cluster. *counts*: of its subjects
    of the model layer, by state. *replicas*: None while they are not known.
    """

    scope: str
    name: str
    subject_state: records.SubjectState
    counts: Mapping[State, int]
    replicas: Replicas | None


class RollUpCollector(Collector):
    """
    Collects the series of the status; none before the first pass and while this replica does not lead.
    """

    def __init__(
        self,
        rollup: Callable[[], records.RollUp],
        scope: RollUpScope,
        *,
        holds_lease: Callable[[], bool],
        version: str,
        owner_of: Callable[[str], str],
        knows_findings: Callable[[], bool],
    ) -> None:
        self._rollup, self._holds_lease, self._version = rollup, holds_lease, version
        self._owner_of, self._knows_findings = owner_of, knows_findings
        self._with_namespaces = scope is RollUpScope.NAMESPACE

    def collect(self) -> Iterator[Metric]:
        """
        Yield the families of the roll-up: state, counts, replicas, packages, blockers and silences.

        They have no samples while this replica does not hold the lease, and before the first pass.
        """
        rollup = self._rollup()
        cluster = rollup.cluster if self._holds_lease() else None
        found = rollup.namespaces if self._with_namespaces and cluster is not None else {}
        namespaces = sorted(found.items())
        shown = list(_find_shown(rollup, cluster, namespaces))
        yield make_family(declarations.ROLLUP_STATE, _states(shown))
        yield make_family(declarations.ROLLUP_INFERENCE_SETS, _counts(shown))
        yield make_family(declarations.ROLLUP_REPLICAS, _replicas(shown))
        models = _find_models(rollup) if cluster is not None else []
        yield make_family(declarations.SET_REPLICAS, _model_replicas(models))
        yield make_family(declarations.SET_AVAILABLE, _model_available(models))
        if self._with_namespaces:
            yield make_family(declarations.ROLLUP_PACKAGE_INFO, _packages(namespaces))
        yield make_family(declarations.ROLLUP_BLOCKING_INFO, _blockers(shown))
        yield make_family(declarations.ROLLUP_STALLED, self._stalled(shown))
        complete = float(rollup.knows_stalls and self._knows_findings())
        yield make_family(
            declarations.ROLLUP_STALLED_COMPLETE, [((), complete)] if cluster else []
        )
        yield make_family(declarations.ROLLUP_SILENCED_UNTIL, _silenced(shown))
        yield make_family(declarations.ROLLUP_UNOBSERVED, _unobserved(rollup, cluster))
        rights = rollup.missing_rights if cluster is not None else ()
        yield make_family(declarations.ROLLUP_MISSING_RIGHTS, (((each,), 1.0) for each in rights))
        yield make_family(
            declarations.ROLLUP_CLUSTER_INFO, [((self._version,), 1)] if cluster else []
        )
        yield make_family(declarations.ROLLUP_EVALUATED, _evaluated(rollup, cluster))

    def _stalled(self, shown: Sequence[Shown]) -> Samples:
        """Yield what an alert is about; what has no reason is the user's only if the user can act."""
        of_cluster = ""
        for each in shown:
            found = each.subject_state.blocker
            if found is None or not found.stalled or found.silence is not None:
                continue
            if each.scope == CLUSTER:
                of_cluster = found.reason
            elif found.reason and found.reason == of_cluster:
                continue
            is_users = found.actionability is Actionability.USER
            without_reason = Owner.USER if is_users else Owner.PLATFORM
            owner = self._owner_of(found.reason) or without_reason
            # The code of a reason may change to and fro, as of what is out and then degraded.
            code = "" if found.reason else found.code
            yield (found.layer, found.reason, code, owner, each.name), 1


Namespaces: TypeAlias = Iterable[tuple[str, records.NamespaceRecord]]


def _with_unlisted(rollup: records.RollUp, cluster: records.ClusterRecord) -> Mapping[State, int]:
    """
    Count one InferenceSet as Unknown while they cannot be listed: none at all would look healthy.
    """
    counts = rollup.count_sets()
    if cluster.has_all(Layer.MODELDEPLOYMENT):
        return counts
    return {**counts, State.UNKNOWN: max(counts.get(State.UNKNOWN, 0), 1)}


def _find_shown(
    rollup: records.RollUp, cluster: records.ClusterRecord | None, namespaces: Namespaces
) -> Iterator[Shown]:
    if cluster is not None:
        every = [each.replicas for each in rollup.namespaces.values()]
        counts = _with_unlisted(rollup, cluster)
        # Sums over what is listed would look like sums over all.
        replicas = None if cluster.unlisted else _sum(every)
        yield Shown(CLUSTER, "", cluster.subject_state, counts, replicas)
    for name, each in namespaces:
        yield Shown(NAMESPACE, name, each.subject_state, each.counts, each.replicas)


def _sum(every: Sequence[Replicas | None]) -> Replicas | None:
    """Return the sums over all namespaces; None where one of them does not report."""
    known = [each for each in every if each is not None]
    if len(known) < len(every):
        return None
    updated = [each.updated for each in known if each.updated is not None]
    ready = [each.ready for each in known if each.ready is not None]
    return Replicas(
        desired=sum(each.desired for each in known),
        updated=sum(updated) if len(updated) == len(every) else None,
        ready=sum(ready) if len(ready) == len(every) else None,
    )


def _states(shown: Iterable[Shown]) -> Samples:
    for each in shown:
        for state in COUNTED_STATES:
            yield (each.scope, each.name, state.key), float(state is each.subject_state.state)


def _counts(shown: Iterable[Shown]) -> Samples:
    for each in shown:
        for state, number in each.counts.items():
            yield (each.name, state.key), number


def _replicas(shown: Iterable[Shown]) -> Samples:
    for each in shown:
        numbers = each.replicas
        if numbers is None:
            continue
        for count, number in (
            ("desired", numbers.desired),
            ("updated", numbers.updated),
            ("ready", numbers.ready),
        ):
            if number is not None:
                yield (each.name, count), number


Model: TypeAlias = tuple[str, str, records.InferenceSetRecord]
"""An InferenceSet, or a subject of another kind, with its namespace and name."""


def _find_models(rollup: records.RollUp) -> Sequence[Model]:
    """
    Return the InferenceSets that are shown: those that are not available first, then by name.

    What is being deleted is meant to go, and lacks nothing.
    """
    every = (
        (namespace, name, each)
        for namespace, record in rollup.namespaces.items()
        for name, each in record.sets.items()
        if each.subject_state.state is not State.TERMINATING
    )

    def order(model: Model) -> tuple[bool, str, str]:
        namespace, name, each = model
        return each.available is True, namespace, name

    return nsmallest(declarations.MODEL_LIMIT, every, key=order)


def _model_replicas(models: Iterable[Model]) -> Samples:
    for namespace, name, each in models:
        numbers = each.facts.replicas
        if numbers is None:
            continue
        yield (namespace, name, "desired"), numbers.desired
        if numbers.ready is not None:
            yield (namespace, name, "ready"), numbers.ready


def _model_available(models: Iterable[Model]) -> Samples:
    for namespace, name, each in models:
        if each.available is not None:
            yield (namespace, name), float(each.available)


def _packages(namespaces: Namespaces) -> Samples:
    for name, each in namespaces:
        package = each.package
        if package is not None:
            state = each.subject_state.state.key
            yield (name, package.name, package.revision, state), 1


def _blockers(shown: Iterable[Shown]) -> Samples:
    for each in shown:
        found = each.subject_state.blocker
        if found is not None:
            stalled = "true" if found.stalled else "false"
            labels = found.reason, found.code, found.actionability, stalled
            yield (each.scope, each.name, *labels), 1


def _silenced(shown: Iterable[Shown]) -> Samples:
    for each in shown:
        found = each.subject_state.blocker
        silence = found.silence if found is not None else None
        if silence is not None and silence.until is not None:
            yield (each.scope, each.name), silence.until.timestamp()


def _unobserved(rollup: records.RollUp, cluster: records.ClusterRecord | None) -> Samples:
    if cluster is None:
        return
    # Zeros tell a hub that all is known: a reporter of an earlier release writes none.
    yield (UNKNOWN_NAMESPACES,), rollup.find_unobserved().namespaces
    yield (UNLISTED_LAYERS,), len(cluster.unlisted)


def _evaluated(rollup: records.RollUp, cluster: records.ClusterRecord | None) -> Samples:
    if cluster is not None and rollup.evaluated_at is not None:
        yield (cluster.uid,), rollup.evaluated_at.timestamp()
