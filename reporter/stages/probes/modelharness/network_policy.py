"""
Whether the policy that guards the model pods lets in who must come in.

Where there is no Cilium, or the policy is switched off, there is nothing to judge.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.cilium.network_policies import (
    CILIUM_NETWORK_POLICIES,
    CiliumNetworkPolicy,
    EndpointSelector,
)
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.conditions import reason_text, transition_time
from reporter.stages.resources.workloads.components import ComponentSpec, locate_component
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.suggest import did_you_mean


class NetworkPolicyParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *name*: of the policy. *stock*: namespaces that its chart allows whether they exist or not.

    *scaler*: the Deployment that must be let in.
    """

    name: str
    scaler: ComponentSpec
    stock: tuple[str, ...] = ()


LABEL_SOURCES = ("k8s:", "any:", "")
POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace"
NAMESPACE_LABELS = frozenset(f"{source}{POD_NAMESPACE_LABEL}" for source in LABEL_SOURCES)
"""
The label by which Cilium knows a pod's namespace; a source may stand before it.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    found = (
        []
        if check_served(snapshot, CILIUM_NETWORK_POLICIES)
        else _find_troubles(snapshot, question)
    )
    yield to_verdict(snapshot, question.key(), found)


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace, told = question.subject.namespace, question.parameters
    yield check_decoded(snapshot, CILIUM_NETWORK_POLICIES, namespace, told.name)
    policy = snapshot.get(CILIUM_NETWORK_POLICIES, CiliumNetworkPolicy, namespace, told.name)
    if policy is None or policy.metadata.deletion_timestamp is not None:
        return
    allowed = _allowed_namespaces(policy)
    yield _invalid_trouble(policy) or _scaler_blocked_trouble(snapshot, question, policy)
    for name in sorted(allowed - {*told.stock}):
        if snapshot.get(NAMESPACES, Namespace, "", name) is None:
            yield _unknown_namespace_trouble(snapshot, policy, name)


def _endpoint_selectors(policy: CiliumNetworkPolicy) -> Iterable[EndpointSelector]:
    for rule in policy.spec.ingress or ():
        yield from rule.from_endpoints or ()


def _allowed_namespaces(policy: CiliumNetworkPolicy) -> frozenset[str]:
    """
    The namespaces that are allowed by name.
    """
    return frozenset(
        name for each in _endpoint_selectors(policy) for name in _selected_namespaces(each)
    )


def _selected_namespaces(selector: EndpointSelector) -> Iterable[str]:
    labels: Mapping[str, str] = selector.match_labels or {}
    yield from (value for key, value in labels.items() if key in NAMESPACE_LABELS)
    for each in selector.match_expressions or ():
        if each.key in NAMESPACE_LABELS and each.operator == "In":
            yield from each.values or ()


def _is_open(policy: CiliumNetworkPolicy) -> bool:
    """
    Whether pods may come in by anything but a namespace's name, so that the names prove nothing.
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
    return Trouble(
        cause=Cause(_policy_ref(policy), "Invalid"),
        kind=TroubleKind.FAILED,
        is_out=True,
        object_created_at=policy.metadata.creation_timestamp,
        since=transition_time(valid, policy.metadata),
        message_fields=_message_fields(
            policy, f"is not valid ({reason_text(valid, 'Cilium refuses it')})"
        ),
        foreign_text=valid.message or "",
    )


def _scaler_blocked_trouble(
    snapshot: Snapshot, question: ProbeRequest, policy: CiliumNetworkPolicy
) -> Trouble | None:
    """
    Whether the scaler, where it really runs, is kept out; told only if others are let in by name.
    """
    allowed = _allowed_namespaces(policy)
    located = locate_component(snapshot, question.parameters.scaler, question.flags)
    if not allowed or located is None or not located.deployments or _is_open(policy):
        return None
    home = located.deployments[0].metadata
    if home.namespace in {*allowed, policy.metadata.namespace}:
        return None
    state = f"does not let in namespace {home.namespace}, where {home.name} runs"
    return Trouble(
        cause=Cause(_policy_ref(policy), "ScalerNotAllowed"),
        kind=TroubleKind.DECLARED,
        is_out=True,
        object_created_at=policy.metadata.creation_timestamp,
        message_fields=_message_fields(policy, state),
    )


def _unknown_namespace_trouble(
    snapshot: Snapshot, policy: CiliumNetworkPolicy, name: str
) -> Trouble:
    """
    Each name is a cause of its own.
    """
    ref = ObjectRef(NAMESPACES.group_resource, "", name)
    seen = ref in snapshot.deleted_uids
    existing = (each.metadata.name for each in snapshot.all(NAMESPACES))
    lacks = "was deleted" if seen else f"does not exist{did_you_mean(name, existing)}"
    return Trouble(
        cause=Cause(ref, "NamespaceNotFound"),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=True,
        object_created_at=policy.metadata.creation_timestamp,
        message_fields=_message_fields(
            policy, f'allows ingress from namespace "{name}", which {lacks}'
        ),
    )


def _policy_ref(policy: CiliumNetworkPolicy) -> ObjectRef:
    return ObjectRef(
        CILIUM_NETWORK_POLICIES.group_resource, policy.metadata.namespace, policy.metadata.name
    )


def _message_fields(policy: CiliumNetworkPolicy, state: str) -> Mapping[str, str]:
    return {"object": f"CiliumNetworkPolicy {policy.metadata.name}", "state": state}


PROBE = Probe(
    ProbeSpec(
        name="network-policy",
        parameters_type=NetworkPolicyParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"Invalid", "NamespaceNotFound", "ScalerNotAllowed"}),
        required_kinds=(CILIUM_NETWORK_POLICIES, NAMESPACES),
        optional_kinds=(DEPLOYMENTS,),
    ),
    evaluate,
)
