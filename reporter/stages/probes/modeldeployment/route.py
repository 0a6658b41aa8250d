"""
Whether requests find their way from the Gateway to the model pods: route, Gateway, pool, selector.

Statuses are frozen while their writer is down, and old entries stay. So what a route refers to is
looked up first, and a status is believed only from the Gateway's own controller about a Gateway that
exists.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import Gateway, HTTPRoute, InferencePool, ParentReference
from reporter.model.kinds import (
    DEPLOYMENTS,
    GATEWAY_CLASSES,
    GATEWAYS,
    HTTP_ROUTES,
    INFERENCE_POOLS,
    INFERENCE_SETS,
    NAMESPACES,
    PODS,
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
    controller,
    gateway_of,
    ours,
    parents,
    pools,
    pools_of,
    routes,
    staying,
)
from reporter.stages.ruling import Found, ruling, undecoded
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import PICKER_SUFFIX


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question.subject))


def _found(snapshot: Snapshot, subject: Subject) -> Sequence[Found | None]:
    if inference_set(snapshot, subject) is None:
        return []
    every, behind = routes(snapshot, subject), pools(snapshot, subject)
    late = unread(snapshot, HTTP_ROUTES, subject, every)
    late = late or unread(snapshot, INFERENCE_POOLS, subject, behind)
    if late:
        return [late]
    if not every:
        return [_absent(snapshot, subject, staying(behind))]
    here = staying(every)
    found = [each for each in (_route(snapshot, route) for route in here) if each is not None]
    if found or not here:
        return found
    pods = counted(model_pods(snapshot, subject))
    return [_pool(snapshot, pool, here, pods) for pool in staying(behind)]


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


def _route(snapshot: Snapshot, route: HTTPRoute) -> Found | None:
    return next((each for each in _checks(snapshot, route) if each is not None), None)


def _checks(snapshot: Snapshot, route: HTTPRoute) -> Iterator[Found | None]:
    namespace = route.metadata.namespace
    if not route.spec.parent_refs:
        yield trouble(HTTP_ROUTES, route, "GatewayNotFound", Kind.DECLARED, "names no Gateway")
    for ref in dict.fromkeys(gateway_of(parent, namespace) for parent in parents(route)):
        yield _gateway(snapshot, route, ref)
    for ref in pools_of(route):
        yield _backend(snapshot, route, ref)
    for parent in parents(route):
        yield _answer(snapshot, route, parent)


def _gateway(snapshot: Snapshot, route: HTTPRoute, ref: ObjectRef) -> Found | None:
    found = snapshot.get(GATEWAYS, Gateway, ref.namespace, ref.name)
    if found is not None:
        return undecoded(snapshot, GATEWAYS, ref.namespace, ref.name)
    here = ref.namespace == route.metadata.namespace
    name = ref.name if here else f"{ref.namespace}/{ref.name}"
    return _dangling(snapshot, route, ref, f"parent Gateway {name}", "GatewayNotFound")


def _backend(snapshot: Snapshot, route: HTTPRoute, ref: ObjectRef) -> Found | None:
    if snapshot.get(INFERENCE_POOLS, InferencePool, ref.namespace, ref.name) is not None:
        return None
    return _dangling(snapshot, route, ref, f"backend InferencePool {ref.name}", "PoolNotFound")


def _dangling(snapshot: Snapshot, route: HTTPRoute, ref: ObjectRef, what: str, code: str) -> Found:
    """
    A reference to what is not there; as such it is as young as the absence.
    """
    kind = GATEWAYS if ref.resource == GATEWAYS.qualified else INFERENCE_POOLS
    late = undecoded(snapshot, kind, ref.namespace, ref.name)
    if late:
        return late
    seen = ref in snapshot.gone
    lost = Kind.LOST if seen else Kind.DECLARED
    return replace(
        trouble(HTTP_ROUTES, route, code, lost, f"{what} {_lacks(seen=seen)}"), born=None
    )


def _answer(snapshot: Snapshot, route: HTTPRoute, parent: ParentReference) -> Found | None:
    namespace = route.metadata.namespace
    ref = gateway_of(parent, namespace)
    gateway = snapshot.get(GATEWAYS, Gateway, ref.namespace, ref.name)
    if gateway is None or gateway.metadata.deletion_timestamp is not None:
        return None
    entries = about(route.status, parent, namespace)
    return of_route(route, ours(entries, controller(snapshot, gateway)), ref.name)


# ---------------------------------------------------------------- one pool


def _pool(
    snapshot: Snapshot, pool: InferencePool, here: Iterable[HTTPRoute], pods: Sequence[Pod]
) -> Found | None:
    namespace = pool.metadata.namespace
    refs = {gateway_of(parent, r.metadata.namespace) for r in here for parent in parents(r)}
    for ref in sorted(refs):
        gateway = snapshot.get(GATEWAYS, Gateway, ref.namespace, ref.name)
        if gateway is None or gateway.metadata.deletion_timestamp is not None:
            continue
        parent = ParentReference(name=ref.name, namespace=ref.namespace)
        entries = about(pool.status, parent, namespace)
        found = of_pool(pool, ours(entries, controller(snapshot, gateway)), ref.name)
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
