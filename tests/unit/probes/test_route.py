"""The verdicts about the routing of requests to a model, from the status of its route and pool."""

import pytest

from reporter.kinds.apps import Deployment
from reporter.kinds.core import Pod
from reporter.kinds.gateway_api import Gateway, GatewayClass, HTTPRoute, InferencePool
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear
from tests.support.builders import NOON, an_observed_condition
from tests.support.model_builders import (
    CREATED_BY,
    EPOCH,
    INDEX,
    MODEL,
    POOL,
    ROUTE,
    TEAM,
    a_gateway,
    a_model,
    a_model_pod,
    a_parent,
    a_pool,
    a_route,
    a_set,
    an_entry,
    an_entry_of_istio,
    never_ready,
)
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetRouteNotReady"
REFUSED = an_observed_condition("Accepted", "False", "NotAllowedByListeners", "not allowed", NOON)
UNRESOLVED = an_observed_condition("ResolvedRefs", "False", "InvalidKind", "not enabled", NOON)
NO_KIND = an_observed_condition(
    "ResolvedRefs",
    "False",
    "InvalidExtensionRef",
    "Unsupported ExtensionRef kind ServiceImport",
    NOON,
)
ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
DRIFTED = {CREATED_BY: MODEL, "app": "old"}
PLACEHOLDER = an_entry(
    an_observed_condition("Accepted", "Unknown", "Pending", since=EPOCH),
    parent=a_parent("default", kind="Status"),
    controller="",
)

CLEAR = {
    "healthy": a_model(),
    "deployed without route, pool and picker": a_model(
        without=[HTTPRoute, InferencePool, Deployment]
    ),
    "the route is being deleted, its pool is deleted": a_model(
        a_route(deleted=NOON), without=[InferencePool]
    ),
    "the Gateway is on its way out": a_model(
        a_gateway(deleted=NOON), a_route(ROUTE, an_entry(REFUSED))
    ),
    "the pool is on its way out": a_model(a_pool(POOL, an_entry(REFUSED), deleted=NOON)),
    "another controller left its entry": a_model(
        a_route(ROUTE, an_entry(REFUSED, controller=ENVOY), an_entry())
    ),
    "ours stands behind it, and the class has no object": a_model(
        a_route(ROUTE, an_entry(REFUSED, controller=ENVOY), an_entry()), without=[GatewayClass]
    ),
    "a controller of another name, and the class has no object": a_model(
        a_route(ROUTE, an_entry(controller=ENVOY)), without=[GatewayClass]
    ),
    "an entry about another Gateway": a_model(
        a_route(ROUTE, an_entry(REFUSED, parent=a_parent("old-gw")), an_entry())
    ),
    "the namespace of the parent is given": a_model(
        a_route(ROUTE, an_entry(parent=a_parent(namespace=TEAM, kind="Gateway")))
    ),
    "a Service as another parent": a_model(
        a_route(parents=(a_parent(), a_parent("svc", kind="Service", group="")))
    ),
    "a fresh pool's placeholder": a_model(a_pool(POOL, PLACEHOLDER)),
    "a pool of which nobody writes": a_model(a_pool(POOL, PLACEHOLDER)),
    "stale words about a pool and a Gateway that was": a_model(
        a_pool(POOL, an_entry_of_istio(NO_KIND, name="old-gw"))
    ),
    "an old entry of another controller on the pool": a_model(
        a_pool(POOL, an_entry(NO_KIND, controller=ENVOY), an_entry_of_istio())
    ),
    "a pool that waits": a_model(
        a_pool(POOL, an_entry_of_istio(an_observed_condition("Accepted", "Unknown", "Pending")))
    ),
    "no model pods at all": a_model(a_set(0), without=[Pod]),
    "model pods that do not run yet": a_model(
        a_pool(selects=DRIFTED), a_model_pod(phase="Pending", **never_ready(NOON))
    ),
    "only a worker runs": a_model(
        a_model_pod(1), a_model_pod(0, phase="Pending", **never_ready(NOON))
    ),
    "a renamed chart, found by its label": a_model(
        a_route("r1", pool="p1"), a_pool("p1"), without=[]
    ),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_a_route_that_reaches_its_model_is_clear(objects):
    verdict = verdict_of(REASON, *objects)
    assert isinstance(verdict, Clear), rendered_message(verdict)


TROUBLE = {
    "no route": (
        a_model(without=[HTTPRoute]),
        "RouteNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route does not exist",
    ),
    "no route, and of the rest a picker": (
        a_model(without=[HTTPRoute, InferencePool]),
        "RouteNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route does not exist",
    ),
    "no Gateway": (
        a_model(without=[Gateway]),
        "GatewayNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route parent Gateway team-a-gw does not exist",
    ),
    "a Gateway that never was, in another namespace": (
        a_model(a_route(parents=(a_parent("shared", namespace="infra"),))),
        "GatewayNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route parent Gateway infra/shared does not exist",
    ),
    "no parent": (
        a_model(a_route(parents=())),
        "GatewayNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route names no Gateway",
    ),
    "nobody has answered": (
        a_model(a_route(unseen=True)),
        "Unseen",
        TroubleKind.STARTING,
        "HTTPRoute qwen-route was not answered by the controller of its Gateway team-a-gw",
    ),
    "only a dead controller has": (
        a_model(a_route(ROUTE, an_entry(controller=ENVOY))),
        "Unseen",
        TroubleKind.STARTING,
        "HTTPRoute qwen-route was not answered by the controller of its Gateway team-a-gw",
    ),
    "the answer is about another listener": (
        a_model(a_route(ROUTE, an_entry(), parents=(a_parent(section_name="https"),))),
        "Unseen",
        TroubleKind.STARTING,
        "HTTPRoute qwen-route was not answered by the controller of its Gateway team-a-gw",
    ),
    "the controller is thinking": (
        a_model(a_route(ROUTE, an_entry(an_observed_condition("Accepted", "Unknown", "Pending")))),
        "Unseen",
        TroubleKind.STARTING,
        "HTTPRoute qwen-route is not accepted by Gateway team-a-gw yet",
    ),
    "refused": (
        a_model(a_route(ROUTE, an_entry(REFUSED))),
        "NotAccepted",
        TroubleKind.FAILED,
        (
            "HTTPRoute qwen-route is not accepted by Gateway team-a-gw (NotAllowedByListeners):"
            " not allowed"
        ),
    ),
    "unresolved": (
        a_model(a_route(ROUTE, an_entry(UNRESOLVED))),
        "NotResolved",
        TroubleKind.FAILED,
        "HTTPRoute qwen-route has a backend that does not resolve (InvalidKind): not enabled",
    ),
    "no pool": (
        a_model(without=[InferencePool]),
        "PoolNotFound",
        TroubleKind.DECLARED,
        "HTTPRoute qwen-route backend InferencePool qwen-inferencepool does not exist",
    ),
    "the pool is refused": (
        a_model(
            a_pool(
                POOL,
                an_entry_of_istio(
                    an_observed_condition("Accepted", "False", "NotSupportedByParent")
                ),
            )
        ),
        "PoolNotAccepted",
        TroubleKind.FAILED,
        (
            "InferencePool qwen-inferencepool is not accepted by Gateway team-a-gw"
            " (NotSupportedByParent)"
        ),
    ),
    "the pool does not resolve": (
        a_model(a_pool(POOL, an_entry_of_istio(UNRESOLVED))),
        "PoolNotAccepted",
        TroubleKind.FAILED,
        "InferencePool qwen-inferencepool does not resolve (InvalidKind): not enabled",
    ),
    "the selector drifted": (
        a_model(a_pool(selects=DRIFTED)),
        "SelectsNothing",
        TroubleKind.FAILED,
        "InferencePool qwen-inferencepool selector matches no pod while 1 model pod is running",
    ),
    "pods without an index, before Kubernetes 1.28": (
        a_model(
            a_model_pod(labels={INDEX: None}), a_model_pod(0, "qwen-b2", labels={INDEX: None})
        ),
        "SelectsNothing",
        TroubleKind.FAILED,
        "InferencePool qwen-inferencepool selector matches no pod while 2 model pods are running",
    ),
}


@pytest.mark.parametrize(("objects", "code", "kind", "text"), TROUBLE.values(), ids=TROUBLE.keys())
def test_what_is_wrong_is_reported(objects, code, kind, text):
    verdict = verdict_of(REASON, *objects)
    assert rendered_message(verdict) == f"{text}."
    assert (only_trouble(verdict).cause.code, only_trouble(verdict).kind) == (code, kind)


def test_istios_shadow_service_is_on_its_way():
    message = f"backend({POOL}-ip-1f6a2b.team-a.svc.cluster.local) not found"
    condition = an_observed_condition("ResolvedRefs", "False", "BackendNotFound", message, NOON)
    found = only_trouble(verdict_of(REASON, *a_model(a_route(ROUTE, an_entry(condition)))))
    assert (found.kind, found.cause.code) == (TroubleKind.STARTING, "NotResolved")
