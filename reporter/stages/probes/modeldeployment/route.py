"""
Whether requests find their way from the Gateway to the model pods: route, Gateway, pool, selector.

Statuses are frozen while their writer is down, and old entries stay. So what a route refers to is
looked up first, and a status is believed only from the Gateway's own controller about a Gateway that
exists.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import (
    BackendReference,
    Gateway,
    HTTPRoute,
    InferencePool,
    ParentReference,
)
from reporter.model.kinds import (
    DEPLOYMENTS,
    GATEWAY_CLASSES,
    GATEWAYS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    INFERENCE_SETS,
    NAMESPACES,
    PODS,
    ResourceKind,
)
from reporter.model.objects import Deployment, Pod
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.acceptance import of_pool, of_route, trouble
from reporter.stages.indexes import by_model
from reporter.stages.models import counted, inference_set, leads, model_pods, unread
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.routes import (
    ROUTE_SUFFIX,
    about,
    backends,
    controller,
    ours,
    parents,
    pools,
    routes,
    staying,
)
from reporter.stages.ruling import Found, ruling, undecoded
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import PICKER_SUFFIX


Gateways: TypeAlias = Sequence[tuple[ParentReference, str]]
"""
What a route refers to, each with who writes about it.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question.subject))


def _found(snapshot: Snapshot, subject: Subject) -> Sequence[Found | None]:
    if inference_set(snapshot, subject) is None:
        return []
    every = routes(snapshot, subject)
    behind = pools(snapshot, subject, every)
    late = unread(snapshot, HTTP_ROUTES, subject, every)
    late = late or unread(snapshot, INFERENCE_POOLS, subject, behind)
    if late:
        return [late]
    if not every:
        return [_absent(snapshot, subject, staying(behind))]
    here = [(route, _gateways(snapshot, route)) for route in staying(every)]
    found = [found for each in here if (found := _route(snapshot, *each)) is not None]
    if found or not here:
        return found
    pods = counted(model_pods(snapshot, subject))
    return [_pool(pool, here, pods) for pool in staying(behind)]


def _absent(
    snapshot: Snapshot, subject: Subject, behind: Sequence[InferencePool]
) -> Trouble | None:
    """
    A set with neither pool nor endpoint picker was deployed to be reached otherwise.
    """
    labelled = snapshot.find(DEPLOYMENTS, Deployment, by_model(subject.namespace, subject.name))
    name = f"{subject.name}{PICKER_SUFFIX}"
    picker = snapshot.get(DEPLOYMENTS, Deployment, subject.namespace, name)
    if not behind and not staying((*labelled, *((picker,) if picker is not None else ()))):
        return None
    route = ObjectRef(HTTP_ROUTES.qualified, subject.namespace, f"{subject.name}{ROUTE_SUFFIX}")
    seen = route in snapshot.gone
    return Trouble(
        cause=Cause(route, "RouteNotFound"),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=True,
        fields={"object": f"HTTPRoute {route.name}", "state": _lacks(seen=seen)},
    )


def _lacks(*, seen: bool) -> str:
    return "was deleted" if seen else "does not exist"


# ---------------------------------------------------------------- one route


def _gateways(snapshot: Snapshot, route: HTTPRoute) -> Gateways:
    """
    One on its way out accepts nothing any more, and its entries stay as they were.
    """
    found = []
    for parent in parents(route):
        namespace = parent.namespace or route.metadata.namespace
        gateway = snapshot.get(GATEWAYS, Gateway, namespace, parent.name)
        if gateway is not None and gateway.metadata.deletion_timestamp is None:
            found.append((parent, controller(snapshot, gateway)))
    return found


def _route(snapshot: Snapshot, route: HTTPRoute, gateways: Gateways) -> Found | None:
    if not route.spec.parent_refs:
        return trouble(HTTP_ROUTES, route, "GatewayNotFound", Kind.DECLARED, "names no Gateway")
    for parent in parents(route):
        found = _exists(snapshot, route, GATEWAYS, parent)
        if found is not None:
            return found
    for backend in backends(route):
        found = _exists(snapshot, route, INFERENCE_POOLS, backend)
        if found is not None:
            return found
    for parent, writer in gateways:
        entries = about(route.status, parent, route.metadata.namespace)
        found = of_route(route, ours(entries, writer), parent.name)
        if found is not None:
            return found
    return None


def _exists(
    snapshot: Snapshot,
    route: HTTPRoute,
    kind: ResourceKind,
    wanted: ParentReference | BackendReference,
) -> Found | None:
    """
    A reference to what is not there is trouble as young as the absence.
    """
    namespace = wanted.namespace or route.metadata.namespace
    late = undecoded(snapshot, kind, namespace, wanted.name)
    if late or snapshot.get(kind, kind.type, namespace, wanted.name) is not None:
        return late
    seen = ObjectRef(kind.qualified, namespace, wanted.name) in snapshot.gone
    here = namespace == route.metadata.namespace
    name = wanted.name if here else f"{namespace}/{wanted.name}"
    what = "parent" if kind is GATEWAYS else "backend"
    state = f"{what} {kind.kind} {name} {_lacks(seen=seen)}"
    code = "GatewayNotFound" if kind is GATEWAYS else "PoolNotFound"
    lost = Kind.LOST if seen else Kind.DECLARED
    return replace(trouble(HTTP_ROUTES, route, code, lost, state), born=None)


# ---------------------------------------------------------------- one pool


def _pool(
    pool: InferencePool, here: Iterable[tuple[HTTPRoute, Gateways]], pods: Sequence[Pod]
) -> Found | None:
    for route, gateways in here:
        for parent, writer in gateways:
            namespace = parent.namespace or route.metadata.namespace
            wanted = ParentReference(name=parent.name, namespace=namespace)
            entries = about(pool.status, wanted, pool.metadata.namespace)
            found = of_pool(pool, ours(entries, writer), parent.name)
            if found is not None:
                return found
    return _selection(pool, pods)


def _selection(pool: InferencePool, pods: Sequence[Pod]) -> Trouble | None:
    """
    No writer tells that a selector matches nothing.
    """
    wanted = (pool.spec.selector.match_labels or {}).items()
    running = sum(pod.status.phase == "Running" and leads(pod) for pod in pods)
    if not running or any(wanted <= (pod.metadata.labels or {}).items() for pod in pods):
        return None
    models = "1 model pod is" if running == 1 else f"{running} model pods are"
    state = f"selector matches no pod while {models} running"
    return trouble(INFERENCE_POOLS, pool, "SelectsNothing", Kind.FAILED, state)


PROBE = Probe(
    ProbeSpec(
        name="route",
        parameters=NoParameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset(
            {
                "RouteNotFound",
                "GatewayNotFound",
                "NotAccepted",
                "NotResolved",
                "PoolNotFound",
                "PoolNotAccepted",
                "SelectsNothing",
                "PickerNotFound",
                "Unseen",
            }
        ),
        requires=(INFERENCE_SETS, HTTP_ROUTES, INFERENCE_POOLS, GATEWAYS, PODS),
        uses=(GATEWAY_CLASSES, DEPLOYMENTS, NAMESPACES),
        demands=lambda _: frozenset(
            {
                INFERENCE_SETS.qualified,
                HTTP_ROUTES.qualified,
                INFERENCE_POOLS.qualified,
                GATEWAYS.qualified,
            }
        ),
    ),
    judge,
)
