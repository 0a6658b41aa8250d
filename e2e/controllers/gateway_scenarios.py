"""
The scenarios of a Gateway, its routes and its pool under istiod, and what an operator must read about each.

kwok stands in for Envoy, and the tests for the load balancers of a cloud.
"""

import time
from collections.abc import Callable

from e2e.controllers import released
from e2e.controllers.istiod import Istiod
from e2e.controllers.model import Model
from e2e.controllers.recording import RECORDED_MODEL, RECORDED_NAMESPACE
from e2e.controllers.scenarios import EXAMPLE, READY, Act, Scenario
from e2e.controlplane import Json, until
from e2e.support.production_stack.team import GATEWAY, MODEL, POOL, ROUTE
from reporter.kinds.core import SERVICES
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, INFERENCE_POOLS
from reporter.probes.gateway_programming import FIRST_STATUS_WITHIN


CLASS, PROGRAMMING = "modelharnessGatewayClassMissing", "modelharnessGatewayProgrammingFailed"
ROUTING, HARNESS_READY = "inferencesetRouteNotReady", "modelharnessReady"
WITHIN = 60
"""Seconds until istiod has answered a change."""

LISTENER: Json = {"name": "http", "port": 80, "protocol": "HTTP"}
_PICKER = f"{MODEL}-inferencepool-epp"
_HEALTHY = (
    f"Gateway {RECORDED_NAMESPACE}/{RECORDED_NAMESPACE}-gw",
    f"HTTPRoute {RECORDED_NAMESPACE}/{RECORDED_MODEL}-route",
    f"InferencePool {RECORDED_NAMESPACE}/{RECORDED_MODEL}-inferencepool",
    f"Service {RECORDED_NAMESPACE}/{_PICKER}",
)


def installed(model: Model) -> None:
    """Install the charts, and wait until requests would be served."""
    model.install_harness()
    _has_address(model)
    model.install(EXAMPLE)
    model.until_ready()
    until_parents(model, ROUTE, "ResolvedRefs", "ResolvedRefs")


def installed_without_services(model: Model) -> None:
    """Install the charts where a quota allows no Service with a load balancer."""
    model.client.apply(model.team.namespace)
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"services.loadbalancers": "0"}}}
    model.client.create(f"/api/v1/namespaces/{model.namespace}/resourcequotas", quota)
    model.install_harness()
    until_gateway(model, "Programmed", "AddressNotUsable")


def allowed_again(model: Model) -> None:
    """Delete the quota and restart istiod, as the remedy says."""
    model.client.delete(f"/api/v1/namespaces/{model.namespace}/resourcequotas/none")
    restarted(model)
    _has_address(model)
    model.install(EXAMPLE)
    model.until_ready()


def restarted(model: Model) -> None:
    _istiod(model).stop()
    _istiod(model).start()


def class_is(name: str) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.team.patch_spec(GATEWAY, {"gatewayClassName": name})

    return do


def listens(*listeners: Json, answer: str) -> Callable[[Model], None]:
    """Change the listeners; return once the Gateway or its last listener says *answer*."""

    def do(model: Model) -> None:
        model.team.patch_spec(GATEWAY, {"listeners": list(listeners)})
        until_gateway(model, "ResolvedRefs", answer)

    return do


def routes_of(label: str, answer: str) -> Callable[[Model], None]:
    """Let the listener take the routes of namespaces with a label, or of its own for none."""
    selector = {"from": "Selector", "selector": {"matchLabels": {label: "true"}}}
    namespaces: Json = selector if label else {"from": "Same"}
    listener = {**LISTENER, "allowedRoutes": {"namespaces": namespaces}}

    def do(model: Model) -> None:
        model.team.patch_spec(GATEWAY, {"listeners": [listener]})
        until_parents(model, ROUTE, "Accepted", answer)

    return do


def leads_to(backend: Json, answer: str) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.team.patch_spec(ROUTE, {"rules": [{"backendRefs": [backend]}]})
        until_parents(model, ROUTE, "ResolvedRefs", answer)

    return do


def picks_by(name: str, answer: str) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.team.patch_spec(POOL, {"endpointPickerRef": {"name": name}})
        until_parents(model, POOL, "ResolvedRefs", answer)

    return do


def picker_service_deleted(model: Model) -> None:
    model.client.delete(f"/api/v1/namespaces/{model.namespace}/services/{_PICKER}")


def picker_service_back(model: Model) -> None:
    for each in model.team.chart_manifests():
        if each["kind"] == "Service" and each["metadata"]["name"] == _PICKER:
            model.client.apply(each)


def address_lost(model: Model) -> None:
    """Take the address away, once the Gateway is old enough to have had one."""
    time.sleep(FIRST_STATUS_WITHIN.total_seconds() + 1)
    _set_address(model, [])
    until_gateway(model, "Programmed", "AddressNotAssigned")


def address_back(model: Model) -> None:
    _has_address(model)


# --------------------------------------------------------------------
# What istiod answers.


def until_gateway(model: Model, condition: str, reason: str) -> None:
    """Wait until a condition of the Gateway or of a listener has this reason."""

    def found() -> bool:
        status = model.client.get(model.team.path(GATEWAY)).get("status", {})
        parts = [status, *status.get("listeners", [])]
        return any(_says(each.get("conditions", []), condition, reason) for each in parts)

    until(found, within=WITHIN, what=f"the Gateway says {condition} {reason}")


def until_parents(model: Model, kind: str, condition: str, reason: str) -> None:
    def found() -> bool:
        parents = model.client.get(model.team.path(kind)).get("status", {}).get("parents", [])
        return any(_says(each.get("conditions", []), condition, reason) for each in parents)

    until(found, within=WITHIN, what=f"the {kind} says {condition} {reason}")


def _says(conditions: list[Json], condition: str, reason: str) -> bool:
    return any((each["type"], each["reason"]) == (condition, reason) for each in conditions)


def _has_address(model: Model) -> None:
    """Give the Service that istiod makes an address, as a cloud does."""
    _set_address(model, [{"ip": "203.0.113.7"}])
    until_gateway(model, "Programmed", "Programmed")


def _set_address(model: Model, ingress: list[Json]) -> None:
    path = f"/api/v1/namespaces/{model.namespace}/services/{model.namespace}-gw-istio"
    until(lambda: model.client.exists(path), within=WITHIN, what=f"istiod makes {path}")
    model.client.patch(f"{path}/status", {"status": {"loadBalancer": {"ingress": ingress}}})


def _istiod(model: Model) -> Istiod:
    assert model.istiod is not None, "a model of this scenario has an istiod"
    return model.istiod


def _scenario(name: str, why: str, of: tuple[str, ...], *acts: Act) -> Scenario:
    return Scenario(
        f"istio-{name}",
        why,
        of,
        acts,
        (released.ISTIOD.name,),
        "",
        (GATEWAYS, HTTP_ROUTES, INFERENCE_POOLS, SERVICES),
        _HEALTHY,
    )


_INSTALLED = Act("10s", "the charts are installed", installed)
_SAME = {"group": "inference.networking.k8s.io", "kind": "InferencePool"}
_TLS = {"mode": "Terminate", "certificateRefs": [{"name": "nosuch"}]}
_HTTPS: Json = {"name": "https", "port": 443, "protocol": "HTTPS", "tls": _TLS}

SCENARIOS = (
    _scenario(
        "healthy",
        "Whatever istiod says for moments while a Gateway starts, and while istiod is restarted, is no trouble.",
        (CLASS, PROGRAMMING, ROUTING),
        _INSTALLED,
        Act("20m", "istiod is restarted", restarted),
    ),
    _scenario(
        "class-unknown",
        "istiod says nothing of a Gateway whose class there is not; its earlier words stay.",
        (CLASS,),
        _INSTALLED,
        Act("20m", "the class is misspelled", class_is("istoi"), (CLASS, "istoi")),
        Act("30m", "it is corrected", class_is("istio"), (HARNESS_READY, "")),
    ),
    _scenario(
        "certificate-missing",
        "A listener whose certificate is missing is announced, although its Gateway is Programmed.",
        (PROGRAMMING,),
        _INSTALLED,
        Act(
            "20m",
            "a listener without its certificate",
            listens(LISTENER, _HTTPS, answer="InvalidCertificateRef"),
            (PROGRAMMING, "InvalidCertificateRef"),
        ),
        Act(
            "30m",
            "it is taken back",
            listens(LISTENER, answer="ResolvedRefs"),
            (HARNESS_READY, ""),
        ),
    ),
    _scenario(
        "address-lost",
        "A Gateway that had an address and has none is announced within a minute, not as one that waits for its first.",
        (PROGRAMMING,),
        _INSTALLED,
        Act("20m", "the load balancer is gone", address_lost, (PROGRAMMING, "lost its address")),
        Act("30m", "it is back", address_back, (HARNESS_READY, "")),
    ),
    _scenario(
        "service-refused",
        "A quota refuses the Gateway's Service. istiod gives up, so that a restart is a part of the remedy.",
        (PROGRAMMING,),
        Act(
            "10s",
            "the charts are installed",
            installed_without_services,
            (PROGRAMMING, "has no Service"),
        ),
        Act(
            "20m",
            "the quota is deleted, and istiod restarted",
            allowed_again,
            (HARNESS_READY, ""),
        ),
    ),
    _scenario(
        "route-not-allowed",
        "A listener that does not take the route of its own namespace is named.",
        (ROUTING,),
        _INSTALLED,
        Act(
            "20m",
            "the listener takes routes of others alone",
            routes_of("other", "NotAllowedByListeners"),
            (ROUTING, "NotAllowedByListeners"),
        ),
        Act("30m", "it is corrected", routes_of("", "Accepted"), (READY, "")),
    ),
    _scenario(
        "backend-missing",
        "A route to a Service that there is not is announced with istiod's words.",
        (ROUTING,),
        _INSTALLED,
        Act(
            "20m",
            "the route leads nowhere",
            leads_to({"name": "nosuch", "port": 80}, "BackendNotFound"),
            (ROUTING, "nosuch"),
        ),
        Act(
            "30m",
            "it is corrected",
            leads_to({**_SAME, "name": f"{MODEL}-inferencepool"}, "ResolvedRefs"),
            (READY, ""),
        ),
    ),
    _scenario(
        "picker-unknown",
        "A pool that names a picker that there is not is announced, and well once it names the right one.",
        (ROUTING,),
        _INSTALLED,
        Act(
            "20m",
            "the pool names another picker",
            picks_by("m-epp", "InvalidExtensionRef"),
            (ROUTING, "m-epp"),
        ),
        Act("30m", "it is corrected", picks_by(_PICKER, "ResolvedRefs"), (READY, "")),
    ),
    _scenario(
        "picker-service-deleted",
        "istiod does not look at Services again, so its words about a pool stay while the picker's Service is gone.",
        (ROUTING,),
        _INSTALLED,
        Act("20m", "the Service is deleted", picker_service_deleted, (ROUTING, _PICKER)),
        Act("30m", "it is back", picker_service_back, (READY, "")),
    ),
)
