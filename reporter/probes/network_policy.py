"""
Probe for a CiliumNetworkPolicy of the model pods that is invalid or keeps out who must come in.

A cluster without Cilium, or a harness with the policy switched off, has no such trouble.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.cilium import CILIUM_NETWORK_POLICIES, CiliumNetworkPolicy, EndpointSelector
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.objects import find_condition
from reporter.model.enums import TroubleKind
from reporter.model.suggest import did_you_mean
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, one_verdict
from reporter.resources import conditions
from reporter.resources.check_result import CheckResult, check_served
from reporter.resources.components import ComponentSpec, locate_component
from reporter.snapshot.snapshot import Snapshot


class NetworkPolicyParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for the CiliumNetworkPolicy of the model pods.

    *name*: the policy's name. *scaler*: the Deployment whose requests the policy must allow. *stock*:
    namespaces that the chart's default allows, whether they exist in this cluster or not.
    """

    name: str
    scaler: ComponentSpec
    stock: tuple[str, ...] = ()


LABEL_SOURCES = ("k8s:", "any:", "")
POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace"
NAMESPACE_LABELS = frozenset(f"{source}{POD_NAMESPACE_LABEL}" for source in LABEL_SOURCES)
"""
The label that Cilium gives each endpoint for its namespace, with or without a label source prefix.
"""


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Yield the troubles of the policy that the entry's parameters name.

    It is invalid, keeps out the scaler, or allows a namespace that does not exist. A missing policy is
    no trouble.
    """
    if check_served(snapshot, CILIUM_NETWORK_POLICIES):
        # Without the CRD there is no Cilium in this cluster.
        return
    namespace, parameters = request.subject.namespace, request.parameters
    policy = snapshot.get(CILIUM_NETWORK_POLICIES, CiliumNetworkPolicy, namespace, parameters.name)
    if policy is None or conditions.is_deleting(policy):
        return
    yield _invalid_trouble(policy) or _scaler_blocked_trouble(snapshot, request, policy)
    for name in sorted(_allowed_namespaces(policy) - {*parameters.stock}):
        if snapshot.get(NAMESPACES, Namespace, "", name) is None:
            # Each one that does not exist is a cause of its own.
            ref = NAMESPACES.ref("", name)
            absence = conditions.absence_of(snapshot, ref)
            existing = (each.metadata.name for each in snapshot.all(NAMESPACES))
            lacks = absence.describe(did_you_mean(name, existing))
            state = f'allows ingress from namespace "{name}", which {lacks}'
            trouble = conditions.object_trouble(
                CILIUM_NETWORK_POLICIES, policy, "NamespaceNotFound", absence.trouble_kind, state
            )
            yield replace(trouble, cause=Cause(ref, trouble.cause.code))


def _endpoint_selectors(policy: CiliumNetworkPolicy) -> Iterable[EndpointSelector]:
    for rule in policy.spec.ingress or ():
        yield from rule.from_endpoints or ()


def _allowed_namespaces(policy: CiliumNetworkPolicy) -> frozenset[str]:
    """Return the namespaces that a policy allows by name."""
    return frozenset(
        name for each in _endpoint_selectors(policy) for name in _selected_namespaces(each)
    )


def _selected_namespaces(selector: EndpointSelector) -> Iterable[str]:
    labels: Mapping[str, str] = selector.match_labels or {}
    yield from (value for key, value in labels.items() if key in NAMESPACE_LABELS)
    for each in selector.match_expressions or ():
        if each.key in NAMESPACE_LABELS and each.operator == "In":
            yield from each.values or ()


def _has_other_sources(policy: CiliumNetworkPolicy) -> bool:
    """
    Return whether a policy allows sources other than namespaces by name.

    Rules without fromEndpoints (fromCIDR, fromEntities) and operators other than In may let the scaler
    in, so the names do not prove that it is kept out.
    """
    rules = policy.spec.ingress or ()
    return any(not rule.from_endpoints for rule in rules) or any(
        each.key in NAMESPACE_LABELS and each.operator != "In"
        for selector in _endpoint_selectors(policy)
        for each in selector.match_expressions or ()
    )


def _invalid_trouble(policy: CiliumNetworkPolicy) -> Trouble | None:
    valid = find_condition(policy.status.conditions, "Valid")
    if valid is None or valid.status != "False":
        return None
    state = f"is not valid ({conditions.reason_text(valid, 'Cilium refuses it')})"
    return conditions.object_trouble(
        CILIUM_NETWORK_POLICIES, policy, "Invalid", TroubleKind.FAILED, state, valid
    )


def _scaler_blocked_trouble(
    snapshot: Snapshot, request: ProbeRequest, policy: CiliumNetworkPolicy
) -> Trouble | None:
    """
    Return the trouble of a policy that keeps out the scaler, wherever the scaler really runs.
    """
    allowed = _allowed_namespaces(policy)
    located = locate_component(snapshot, request.parameters.scaler, request.flags)
    if not allowed or located is None or not located.deployments or _has_other_sources(policy):
        return None
    scaler = located.deployments[0].metadata
    if scaler.namespace in {*allowed, policy.metadata.namespace}:
        return None
    state = f"does not let in namespace {scaler.namespace}, where {scaler.name} runs"
    return conditions.object_trouble(
        CILIUM_NETWORK_POLICIES, policy, "ScalerNotAllowed", TroubleKind.DECLARED, state
    )


PROBE = Probe(
    ProbeSpec(
        name="network-policy",
        parameters_type=NetworkPolicyParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"Invalid", "NamespaceNotFound", "ScalerNotAllowed"}),
        required_kinds=(CILIUM_NETWORK_POLICIES, NAMESPACES),
        consulted_kinds=(DEPLOYMENTS,),
    ),
    evaluate,
)
