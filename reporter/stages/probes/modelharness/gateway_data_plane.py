"""
Whether the proxies of a Gateway run.

Programmed tells of the Gateway's Service, not of the pods behind it. The Deployments are found by
their label, as their name may be overridden and there may be several of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import gateway_key, workload_key
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.gateway_api.gateway_classes import GATEWAY_CLASSES, GatewayClass
from reporter.model.kinds.gateway_api.gateways import GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.verdicts import Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.conditions import check_observed_generation, transition_time
from reporter.stages.resources.gateway.gateways import (
    accepted_condition,
    exclude_deleting_gateways,
    find_gateways,
)
from reporter.stages.resources.workloads import deployments
from reporter.stages.resources.workloads.deployments import DEPLOYMENT_CODES
from reporter.stages.snapshot.snapshot import Snapshot


class GatewayDataPlaneParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *controllers*: those that make a Deployment for each Gateway, by the name in its class.

    *builtin_classes*: theirs, which work without an object.
    """

    controllers: tuple[str, ...]
    builtin_classes: tuple[str, ...] = ()


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    blind = check_served(snapshot, GATEWAYS)
    yield to_verdict(
        snapshot, question.key(), [blind] if blind else _find_troubles(snapshot, question)
    )


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    for gateway in exclude_deleting_gateways(find_gateways(snapshot, question.subject.namespace)):
        yield from (
            _with_gateway_name(each, gateway)
            for each in _evaluate_proxies(snapshot, gateway, question.parameters)
        )


def _with_gateway_name(found: CheckResult, gateway: Gateway) -> CheckResult:
    if isinstance(found, Trouble):
        return replace(
            found, message_fields={**found.message_fields, "gateway": gateway.metadata.name}
        )
    return found


def _evaluate_proxies(
    snapshot: Snapshot, gateway: Gateway, told: GatewayDataPlaneParameters
) -> Sequence[CheckResult]:
    meta = gateway.metadata
    key = gateway_key(meta.namespace, meta.name)
    made = snapshot.by_index(DEPLOYMENTS, Deployment, key)
    if not made:
        missing = _missing_proxy_trouble(snapshot, gateway, told)
        return [missing] if missing is not None else []
    staying = [each for each in made if each.metadata.deletion_timestamp is None]
    read = [_evaluate_proxy(snapshot, each) for each in staying]
    used = [each for each in read if each is None or not _is_unused(each)] or read
    serving = any(each is None or (isinstance(each, Trouble) and not each.is_out) for each in used)
    found = [each for each in used if each is not None]
    return [_as_degraded(each) for each in found] if serving else found


def _evaluate_proxy(snapshot: Snapshot, deployment: Deployment) -> CheckResult | None:
    meta = deployment.metadata
    unread = check_decoded(snapshot, DEPLOYMENTS, meta.namespace, meta.name)
    pods = snapshot.by_index(PODS, Pod, workload_key(meta.namespace, meta.name))
    return unread or deployments.evaluate_deployment(deployment, pods)


def _is_unused(found: CheckResult) -> bool:
    """
    One that was scaled to zero beside another is left over from a change of class or revision.
    """
    return isinstance(found, Trouble) and found.cause.code == "ScaledToZero"


def _as_degraded(found: CheckResult) -> CheckResult:
    return replace(found, is_out=False) if isinstance(found, Trouble) else found


# ---------------------------------------------------------------- no Deployment


def _missing_proxy_trouble(
    snapshot: Snapshot, gateway: Gateway, told: GatewayDataPlaneParameters
) -> CheckResult | None:
    """
    None where there need not be one: not accepted yet, by another controller, or deployed by hand.
    """
    meta = gateway.metadata
    usual = f"{meta.name}-{gateway.spec.gateway_class_name}"
    seen = deployments.deployment_ref(meta.namespace, usual) in snapshot.deleted_uids
    taken = accepted_condition(gateway)
    if taken is None or not (seen or _is_managed(snapshot, gateway, told)):
        return None
    lacks = deployments.missing_deployment_trouble(meta.namespace, usual, seen=seen)
    kind = lacks.kind if seen else TroubleKind.STARTING
    late = check_observed_generation(taken, meta, f"Gateway {meta.namespace}/{meta.name}")
    return late or replace(lacks, kind=kind, is_out=True, since=transition_time(taken, meta))


def _is_managed(snapshot: Snapshot, gateway: Gateway, told: GatewayDataPlaneParameters) -> bool:
    """
    With addresses in its spec, a Gateway stands for a Service that someone else has made (Istio).
    """
    name = gateway.spec.gateway_class_name
    made = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    if gateway.spec.addresses:
        return False
    if made is None:
        return name in told.builtin_classes
    return made.spec.controller_name in told.controllers


PROBE = Probe(
    ProbeSpec(
        name="gateway-data-plane",
        parameters_type=GatewayDataPlaneParameters,
        message_fields=frozenset({"gateway", "object", "state", "pods"}),
        cause_codes=DEPLOYMENT_CODES,
        required_kinds=(GATEWAYS, DEPLOYMENTS),
        optional_kinds=(GATEWAY_CLASSES, HTTP_ROUTES, PODS, NAMESPACES),
        required_crds=lambda _: frozenset({GATEWAYS.group_resource}),
    ),
    evaluate,
)
