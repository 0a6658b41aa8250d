"""
Whether the policy that guards the model pods lets in who must come in.

Where there is no Cilium, or the policy is switched off, there is nothing to judge.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kinds import DEPLOYMENTS, NAMESPACES, NETWORK_POLICIES
from reporter.model.mesh_objects import CiliumNetworkPolicy, EndpointSelector
from reporter.model.objects import Namespace, condition
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.components import Component, locate
from reporter.stages.conditions import named, since
from reporter.stages.likeness import nearest
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *name*: of the policy. *stock*: namespaces that its chart allows whether they exist or not.

    *scaler*: the Deployment that must be let in.
    """

    name: str
    scaler: Component
    stock: tuple[str, ...] = ()


SOURCES = ("k8s:", "any:", "")
POD_NAMESPACE = "io.kubernetes.pod.namespace"
KEYS = frozenset(f"{source}{POD_NAMESPACE}" for source in SOURCES)
"""
The label by which Cilium knows a pod's namespace; a source may stand before it.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    found = [] if unserved(snapshot, NETWORK_POLICIES) else _found(snapshot, question)
    yield ruling(snapshot, question.key(), found)


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    namespace, told = question.subject.namespace, question.parameters
    yield undecoded(snapshot, NETWORK_POLICIES, namespace, told.name)
    policy = snapshot.get(NETWORK_POLICIES, CiliumNetworkPolicy, namespace, told.name)
    if policy is None or policy.metadata.deletion_timestamp is not None:
        return
    allowed = _allowed(policy)
    yield _invalid(policy) or _unscaled(snapshot, question, policy)
    for name in sorted(allowed - {*told.stock}):
        if snapshot.get(NAMESPACES, Namespace, "", name) is None:
            yield _unknown(snapshot, policy, name)


def _selectors(policy: CiliumNetworkPolicy) -> Iterable[EndpointSelector]:
    for rule in policy.spec.ingress or ():
        yield from rule.from_endpoints or ()


def _allowed(policy: CiliumNetworkPolicy) -> frozenset[str]:
    """
    The namespaces that are allowed by name.
    """
    return frozenset(name for each in _selectors(policy) for name in _named(each))


def _named(selector: EndpointSelector) -> Iterable[str]:
    labels: Mapping[str, str] = selector.match_labels or {}
    yield from (value for key, value in labels.items() if key in KEYS)
    for each in selector.match_expressions or ():
        if each.key in KEYS and each.operator == "In":
            yield from each.values or ()


def _is_open(policy: CiliumNetworkPolicy) -> bool:
    """
    Whether pods may come in by anything but a namespace's name, so that the names prove nothing.
    """
    rules = policy.spec.ingress or ()
    return any(not rule.from_endpoints for rule in rules) or any(
        each.key in KEYS and each.operator != "In"
        for selector in _selectors(policy)
        for each in selector.match_expressions or ()
    )


def _invalid(policy: CiliumNetworkPolicy) -> Trouble | None:
    valid = condition(policy.status.conditions, "Valid")
    if valid is None or valid.status != "False":
        return None
    return Trouble(
        cause=Cause(_reference(policy), "Invalid"),
        kind=Kind.FAILED,
        out=True,
        born=policy.metadata.creation_timestamp,
        since=since(valid, policy.metadata),
        fields=_fields(policy, f"is not valid ({named(valid, 'Cilium refuses it')})"),
        foreign=valid.message or "",
    )


def _unscaled(
    snapshot: Snapshot, question: Question, policy: CiliumNetworkPolicy
) -> Trouble | None:
    """
    Whether the scaler, where it really runs, is kept out; told only if others are let in by name.
    """
    allowed = _allowed(policy)
    located = locate(snapshot, question.parameters.scaler, question.flags)
    if not allowed or located is None or not located.found or _is_open(policy):
        return None
    home = located.found[0].metadata
    if home.namespace in {*allowed, policy.metadata.namespace}:
        return None
    state = f"does not let in namespace {home.namespace}, where {home.name} runs"
    return Trouble(
        cause=Cause(_reference(policy), "ScalerNotAllowed"),
        kind=Kind.DECLARED,
        out=True,
        born=policy.metadata.creation_timestamp,
        fields=_fields(policy, state),
    )


def _unknown(snapshot: Snapshot, policy: CiliumNetworkPolicy, name: str) -> Trouble:
    """
    Each name is a cause of its own.
    """
    ref = ObjectRef(NAMESPACES.qualified, "", name)
    seen = ref in snapshot.gone
    existing = (each.metadata.name for each in snapshot.all(NAMESPACES))
    lacks = "was deleted" if seen else f"does not exist{nearest(name, existing)}"
    return Trouble(
        cause=Cause(ref, "NamespaceNotFound"),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=True,
        born=policy.metadata.creation_timestamp,
        fields=_fields(policy, f'allows ingress from namespace "{name}", which {lacks}'),
    )


def _reference(policy: CiliumNetworkPolicy) -> ObjectRef:
    return ObjectRef(NETWORK_POLICIES.qualified, policy.metadata.namespace, policy.metadata.name)


def _fields(policy: CiliumNetworkPolicy, state: str) -> Mapping[str, str]:
    return {"object": f"CiliumNetworkPolicy {policy.metadata.name}", "state": state}


PROBE = Probe(
    ProbeSpec(
        name="network-policy",
        parameters=Parameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset({"Invalid", "NamespaceNotFound", "ScalerNotAllowed"}),
        requires=(NETWORK_POLICIES, NAMESPACES),
        uses=(DEPLOYMENTS,),
    ),
    judge,
)
