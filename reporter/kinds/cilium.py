"""CiliumNetworkPolicies."""

from reporter.kinds.objects import ApiObject, ApiStruct, Condition, harness_of, no_index_keys
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class MatchExpression(ApiStruct, frozen=True):
    key: str
    operator: str = ""
    values: tuple[str, ...] | None = ()


class EndpointSelector(ApiStruct, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[MatchExpression, ...] | None = ()


class IngressRule(ApiStruct, frozen=True):
    from_endpoints: tuple[EndpointSelector, ...] | None = ()


class CiliumNetworkPolicySpec(ApiStruct, frozen=True):
    endpoint_selector: EndpointSelector | None = None
    ingress: tuple[IngressRule, ...] | None = ()


class CiliumNetworkPolicyStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class CiliumNetworkPolicy(ApiObject, frozen=True):
    spec: CiliumNetworkPolicySpec = CiliumNetworkPolicySpec()
    status: CiliumNetworkPolicyStatus = CiliumNetworkPolicyStatus()


def network_policy_affects(policy: CiliumNetworkPolicy) -> tuple[Subject, ...]:
    return (harness_of(policy),)


CILIUM_NETWORK_POLICIES = ResourceKind(
    resource="ciliumnetworkpolicies",
    group="cilium.io",
    versions=("v2",),
    kind="CiliumNetworkPolicy",
    type=CiliumNetworkPolicy,
    index_keys=no_index_keys,
    affects=network_policy_affects,
)
