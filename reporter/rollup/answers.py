"""The answer of the roll-up to one ProductionStackStatus: of the cluster, a namespace or named models."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from reporter.model.enums import Layer
from reporter.model.object_status import ObjectBlocking, SetCounts
from reporter.model.states import Actionability, State, is_complete
from reporter.model.status_document import ComponentStatus, Package, Replicas, Unobserved
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.rollup.document import StatusView
from reporter.rollup.records import InferenceSetRecord, NamespaceRecord
from reporter.rollup.totals import count_sets, first_blocker, group_blockers


INVALID_SCOPE, NOT_FOUND = "InvalidScope", "NotFound"

NAMED_SEVERITY: Mapping[State, int] = {
    state: number
    for number, state in enumerate(
        (
            State.CURRENT,
            State.IN_PROGRESS,
            State.TERMINATING,
            State.UNKNOWN,
            State.FAILED,
            State.NOT_FOUND,
        )
    )
}
"""
The severity of each state where InferenceSets are named; the most severe one is that of the answer.

One that is being deleted counts more than one in progress: whoever named it will miss it.
"""


class ObjectAnswer(NamedTuple):
    """
    The state of what a ProductionStackStatus asks about, with what is known beside it.

    *not_available*: why InferenceSets are not available, or why that is not known; empty if all are.
    *not_judged*: reasons that need metrics pages of which none is known, of any InferenceSet.
    *unobserved*: what of it is Unknown, whatever the state is; empty if all is known, None if that is not
    reported.
    *problem*: InvalidScope if the object may not ask that, NotFound if what it names is missing; else empty.
    """

    state: State
    available: bool | None = None
    blocking: ObjectBlocking | None = None
    replicas: Replicas | None = None
    inference_sets: SetCounts | None = None
    package: Package | None = None
    not_judged: tuple[str, ...] = ()
    not_available: str = ""
    unobserved: str | None = ""
    problem: str = ""


def find_answer(
    found: ProductionStackStatus, view: StatusView, release_namespace: str
) -> ObjectAnswer:
    """
    Return the answer to the object *found* as of the view. What cannot be listed is Unknown, not missing.

    *release_namespace*: the only one from which the cluster may be asked about.
    """
    namespace = found.metadata.namespace
    answer = (
        _of_cluster(namespace, view, release_namespace)
        if found.spec.scope is StatusScope.CLUSTER
        else _of_namespace(namespace, found.spec.inference_sets, view)
    )
    package = found.spec.package
    if package is None or not (package.name or package.revision):
        return answer
    return answer._replace(package=Package(name=package.name, revision=package.revision))


# ---------------------------------------------------------------- the cluster


def _of_cluster(namespace: str, view: StatusView, release_namespace: str) -> ObjectAnswer:
    if namespace != release_namespace:
        why = f"scope Cluster is for objects in namespace {release_namespace} alone"
        return _problem(State.FAILED, INVALID_SCOPE, Layer.CLUSTER, why)
    cluster = view.cluster()
    return ObjectAnswer(
        cluster.state,
        available=_is_control_plane_available(view),
        blocking=ObjectBlocking.of(cluster.blocking) if cluster.blocking is not None else None,
        inference_sets=_known_counts(view.rollup.count_sets()),
        unobserved=cluster.unobserved.describe(),
    )


def _is_control_plane_available(view: StatusView) -> bool | None:
    """
    Return whether every component can do its work; None if that is Unknown of any.

    One that is out counts at once: while it is held, no replica serves either.
    """
    cluster, tracked = view.cluster(), view.rollup.evaluation.tracked
    if cluster.state is State.UNKNOWN:
        return None

    def is_ranked(key: FindingKey) -> bool:
        return key.subject == CLUSTER_SUBJECT and not view.rules.entry(key).orthogonal

    states = [each for key, each in tracked.finding_states.items() if is_ranked(key)]
    clocks = [clock for each in states if not each.why_unknown for clock in each.clocks]
    is_out = any(c.active and not c.stopped and c.trouble.is_out for c in clocks)
    if is_out or any(map(_serves_nothing, cluster.components)):
        return False
    is_unknown = any(each.why_unknown for each in states) or any(c.stopped for c in clocks)
    return None if is_unknown or any(map(is_ranked, tracked.unknown_states)) else True


def _serves_nothing(component: ComponentStatus) -> bool:
    """Return whether a component is missing, or has failed without a replica that serves."""
    found = component.replicas
    if found is None:
        return component.state is not State.UNKNOWN
    return component.state is State.FAILED and not found.ready


# ---------------------------------------------------------------- a namespace


def _of_namespace(namespace: str, names: tuple[str, ...], view: StatusView) -> ObjectAnswer:
    summary = view.namespace_summary(namespace)
    if summary is None:
        why = (
            f"namespace {namespace} is no workload namespace: it has no label"
            " productionstack.kaito.sh/managed-by=modelharness"
        )
        return _problem(State.NOT_FOUND, NOT_FOUND, Layer.MODELHARNESS, why)
    record = view.rollup.namespaces.get(namespace)
    if record is not None and names and summary.state is not State.TERMINATING:
        return _of_named_sets(namespace, names, record, view)
    return ObjectAnswer(
        summary.state,
        available=summary.available,
        blocking=ObjectBlocking.of(summary.blocking) if summary.blocking is not None else None,
        replicas=summary.replicas,
        inference_sets=_known_counts(record.counts) if record is not None else None,
        package=summary.package,
        not_judged=_not_judged(record.sets.values()) if record is not None else (),
        not_available=_why_not_available(namespace, record.sets, view) if record else "",
        unobserved=_describe_unobserved(record, record.sets, view) if record else "",
    )


def _of_named_sets(
    namespace: str, names: tuple[str, ...], record: NamespaceRecord, view: StatusView
) -> ObjectAnswer:
    sets = {name: record.sets[name] for name in names if name in record.sets}
    absent = [name for name in names if name not in sets]
    missing = [name for name in absent if view.inference_set(namespace, name) is None]
    states = [each.subject_state.state for each in sets.values()]
    states += [State.NOT_FOUND if name in missing else State.UNKNOWN for name in absent]
    answer = ObjectAnswer(
        max((record.harness.state, *states), key=NAMED_SEVERITY.__getitem__),
        available=_any_available(sets.values(), may_be_more=len(absent) > len(missing)),
        replicas=count_sets(sets.values()).replicas if absent == missing else None,
        inference_sets=SetCounts.of({state: states.count(state) for state in set(states)}),
        package=record.package,
        not_judged=_not_judged(sets.values()),
        not_available=_why_not_available(namespace, sets, view),
        unobserved=_describe_unobserved(record, sets, view, absent=len(absent) - len(missing)),
    )
    if missing:
        shown = ", ".join(sorted(missing)[:3]) + (" and others" if len(missing) > 3 else "")  # noqa: PLR2004
        why = f"no InferenceSet {shown} in namespace {namespace}"
        problem = _problem(State.NOT_FOUND, NOT_FOUND, Layer.MODELDEPLOYMENT, why)
        return answer._replace(blocking=problem.blocking, problem=NOT_FOUND)
    return answer._replace(blocking=_blocking(namespace, absent, record, sets, view))


def _known_counts(counts: Mapping[State, int]) -> SetCounts | None:
    """Return the counts with their total; None if that is not known."""
    return SetCounts.of(counts) if is_complete(counts) else None


def _not_judged(sets: Iterable[InferenceSetRecord]) -> tuple[str, ...]:
    return tuple(sorted({str(reason) for each in sets for reason in each.facts.not_judged}))


def _describe_unobserved(
    record: NamespaceRecord,
    sets: Mapping[str, InferenceSetRecord],
    view: StatusView,
    *,
    absent: int = 0,
) -> str:
    """
    Return what of a namespace is Unknown, with the permissions that are missing; empty if all is known.

    *absent*: InferenceSets that are asked about, and of which it is not known whether they are there.
    """
    states = [each.subject_state.state for each in sets.values()]
    found = Unobserved(
        namespaces=int(record.harness.state is State.UNKNOWN),
        inference_sets=states.count(State.UNKNOWN) + absent,
        unlisted=bool(record.unlisted),
    )
    if found == Unobserved():
        return ""
    return replace(found, missing_rights=view.rollup.missing_rights).describe()


def _why_not_available(
    namespace: str, sets: Mapping[str, InferenceSetRecord], view: StatusView
) -> str:
    """
    Return how many InferenceSets are not available, and why the first one is not; empty if all are.

    One of which it is not known comes after those that are not; paused ones do not count.
    """
    missed = [
        (each.available is None, name)
        for name, each in sets.items()
        if each.available is not True and not each.is_paused
    ]
    if not missed:
        return ""
    _, first = min(missed)
    found = view.inference_set(namespace, first)
    cause = found.not_available if found is not None else None
    counted = f"{len(missed)} of {len(sets)} InferenceSets; " if len(sets) > 1 else ""
    because = f"{cause.reason or cause.code}: {cause.message} {cause.remedy}" if cause else ""
    return f"{counted}{first}: {because}".rstrip()


def _any_available(sets: Iterable[InferenceSetRecord], *, may_be_more: bool) -> bool | None:
    answers = [each.available for each in sets]
    if True in answers:
        return True
    return None if None in answers or may_be_more else False


def _blocking(
    namespace: str,
    absent: list[str],
    record: NamespaceRecord,
    sets: Mapping[str, InferenceSetRecord],
    view: StatusView,
) -> ObjectBlocking | None:
    """Return what blocks the harness and these sets, chosen as that of a whole namespace is."""
    groups = group_blockers(record.harness, sets, view.rules)
    found = view.blocking(replace(record.harness, blocker=first_blocker(groups)))
    if found is None and absent:
        unlisted = view.inference_set(namespace, absent[0])
        found = unlisted.blocking if unlisted is not None else None
    return ObjectBlocking.of(found) if found is not None else None


def _problem(state: State, code: str, layer: Layer, why: str) -> ObjectAnswer:
    blocking = ObjectBlocking(
        reason=code, code=code, layer=layer, message=why, actionability=Actionability.USER
    )
    return ObjectAnswer(state, available=False, blocking=blocking, problem=code)
