"""
Probe for a Gateway whose proxies do not run.

Istio derives Programmed from the Gateway's Service, not from the pods behind it. The Deployments are
found by label, because their name can be overridden and a Gateway may have several.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds import gateway_api
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, NODES, PODS
from reporter.kinds.gateway_api import Gateway, GatewayClass
from reporter.kinds.objects import gateway_key
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import conditions, deployments
from reporter.resources.check_result import CheckResult, Inconclusive, limit_to
from reporter.resources.gateways import accepted_condition, find_gateways
from reporter.snapshot.snapshot import Snapshot


class GatewayDataPlaneParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for a Gateway's proxies.

    *controllers*: the controllerNames that create a Deployment for each Gateway. *builtin_classes*:
    their classes that work without a GatewayClass object.
    """

    controllers: tuple[str, ...]
    builtin_classes: tuple[str, ...] = ()


@one_verdict(gateway_api.GATEWAYS)
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult]:
    """
    Yield the troubles of the proxy Deployments of each Gateway, with the Gateway's name in the message.
    """
    for gateway in conditions.exclude_deleting(find_gateways(snapshot, request.subject.namespace)):
        for result in _check_proxies(snapshot, gateway, request.parameters):
            if isinstance(result, Trouble):
                fields = {**result.message_fields, "gateway": gateway.metadata.name}
                yield replace(result, message_fields=fields)
            else:
                yield result


def _check_proxies(
    snapshot: Snapshot, gateway: Gateway, parameters: GatewayDataPlaneParameters
) -> Sequence[CheckResult]:
    """
    Check the proxy Deployments of a Gateway; while one of them serves, the others are no outage.
    """
    meta = gateway.metadata
    proxies = snapshot.by_index(DEPLOYMENTS, Deployment, gateway_key(meta.namespace, meta.name))
    if not proxies:
        missing = _missing_proxy_trouble(snapshot, gateway, parameters)
        return [missing] if missing is not None else []
    refs = [DEPLOYMENTS.ref_to(each) for each in proxies]
    results = [
        # While one of them cannot be evaluated, nothing is known to be over for the others.
        limit_to(deployments.check_deployment(snapshot, each), *refs)
        for each in conditions.exclude_deleting(proxies)
    ]
    # One that is scaled to zero beside another one is left from an old revision.
    used = [
        each
        for each in results
        if not isinstance(each, Trouble) or each.cause.code != "ScaledToZero"
    ] or results
    is_serving = any(
        each is None or (isinstance(each, Trouble) and not each.is_out) for each in used
    )
    found = [each for each in used if each is not None]
    # What could not be evaluated may serve.
    is_uncertain = any(isinstance(each, Inconclusive) for each in found)
    return [_as_degraded(each) for each in found] if is_serving or is_uncertain else found


def _as_degraded(result: CheckResult) -> CheckResult:
    """Return the trouble of one Deployment as that of a data plane which still serves."""
    if not isinstance(result, Trouble) or not result.is_out:
        return result
    fields = result.message_fields
    code = result.cause.code.replace(deployments.UNAVAILABLE, deployments.DEGRADED)
    return replace(
        result,
        cause=Cause(result.cause.object, code),
        is_out=False,
        message_fields={**fields, "object": f"is degraded: {fields['object']}"},
    )


# ---------------------------------------------------------------- no Deployment


def _missing_proxy_trouble(
    snapshot: Snapshot, gateway: Gateway, parameters: GatewayDataPlaneParameters
) -> CheckResult | None:
    """
    Return the trouble of a Gateway without proxies, if its controller ought to create them.

    A controller creates proxies only for a Gateway that it has accepted.
    """
    meta = gateway.metadata
    # Istio's default name (pilot/pkg/config/kube/gateway/deploymentcontroller.go).
    name = f"{meta.name}-{gateway.spec.gateway_class_name}"
    was_deleted = conditions.absence_of(
        snapshot, DEPLOYMENTS.ref(meta.namespace, name)
    ).was_deleted
    accepted = accepted_condition(gateway)
    if accepted is None or not (was_deleted or _is_managed(snapshot, gateway, parameters)):
        return None
    missing = deployments.missing_deployment_trouble(meta.namespace, name, was_deleted=was_deleted)
    if was_deleted:
        # They were there, so no newer word of the controller is needed.
        return replace(missing, since=conditions.transition_time(accepted, meta))
    stale = conditions.check_observed_generation(accepted, meta, "Gateway")
    return stale or replace(
        missing,
        kind=TroubleKind.STARTING,
        is_out=True,
        since=conditions.transition_time(accepted, meta),
    )


def _is_managed(
    snapshot: Snapshot, gateway: Gateway, parameters: GatewayDataPlaneParameters
) -> bool:
    """
    Return whether the controller of a Gateway creates its proxies.

    A Gateway with spec.addresses stands for a Service that somebody deployed by hand (Istio, manual
    deployment of a Gateway).
    """
    name = gateway.spec.gateway_class_name
    if gateway.spec.addresses:
        return False
    is_builtin = name in parameters.builtin_classes
    if is_builtin and snapshot.peek(gateway_api.GATEWAY_CLASSES, GatewayClass, "", name) is None:
        return True
    gateway_class = snapshot.get(gateway_api.GATEWAY_CLASSES, GatewayClass, "", name)
    return gateway_class is not None and (
        gateway_class.spec.controller_name in parameters.controllers
    )


PROBE = Probe(
    ProbeSpec(
        name="gateway-data-plane",
        parameters_type=GatewayDataPlaneParameters,
        message_fields=frozenset({"gateway", "object", "state", "pods"}),
        cause_codes=deployments.DEPLOYMENT_CODES,
        required_kinds=(gateway_api.GATEWAYS, DEPLOYMENTS),
        consulted_kinds=(gateway_api.GATEWAY_CLASSES, gateway_api.HTTP_ROUTES),
        optional_kinds=(PODS, NODES, NAMESPACES),
        required_crds=crds_of(gateway_api.GATEWAYS),
    ),
    evaluate,
)
