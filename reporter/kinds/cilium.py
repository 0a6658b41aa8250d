"""CiliumNetworkPolicies."""

from reporter.kinds.objects import ApiObject, ApiStruct, Condition, affects_harness
from reporter.kinds.resource_kind import ResourceKind


class MatchExpression(ApiStruct, frozen=True):
    """
    A requirement on the label *key* of an endpoint.

    *operator*: In, NotIn, Exists or DoesNotExist; the last two have no *values*.
    """

    key: str
    operator: str = ""
    values: tuple[str, ...] | None = ()


class EndpointSelector(ApiStruct, frozen=True):
    """
    The selection of pods by their labels, all of which must match.

    The label of a pod's namespace counts among them.
    """

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[MatchExpression, ...] | None = ()


class IngressRule(ApiStruct, frozen=True):
    """
    One rule for connections that are let in.

    *from_endpoints* is empty for a rule with other sources, such as fromCIDR.
    """

    from_endpoints: tuple[EndpointSelector, ...] | None = ()


class CiliumNetworkPolicySpec(ApiStruct, frozen=True):
    """The rules of a policy: any one of *ingress* lets a connection in."""

    ingress: tuple[IngressRule, ...] | None = ()


class CiliumNetworkPolicyStatus(ApiStruct, frozen=True):
    """The conditions of a policy; Valid is False if Cilium cannot apply it."""

    conditions: tuple[Condition, ...] | None = ()


class CiliumNetworkPolicy(ApiObject, frozen=True):
    """A network policy of Cilium, of which the rules for ingress are read."""

    spec: CiliumNetworkPolicySpec = CiliumNetworkPolicySpec()
    status: CiliumNetworkPolicyStatus = CiliumNetworkPolicyStatus()


CILIUM_NETWORK_POLICIES = ResourceKind(
    resource="ciliumnetworkpolicies",
    group="cilium.io",
    versions=("v2",),
    kind="CiliumNetworkPolicy",
    type=CiliumNetworkPolicy,
    affects=affects_harness,  # whose pods it protects
)
