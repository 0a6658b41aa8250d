"""
Partial objects of Istio and Cilium.
"""

import msgspec

from reporter.model.objects import ApiObject, Condition, Part


class WorkloadSelector(Part, frozen=True):
    labels: dict[str, str] | None = None


class EnvoyFilterSpec(Part, frozen=True):
    """
    *config_patches*: kept as text, since only the clusters that it names are read.
    """

    workload_selector: WorkloadSelector | None = None
    config_patches: msgspec.Raw = msgspec.Raw(b"null")


class MessageType(Part, frozen=True):
    name: str | None = ""
    code: str | None = ""


class ValidationMessage(Part, frozen=True):
    level: str | None = ""
    type: MessageType | None = None


class EnvoyFilterStatus(Part, frozen=True):
    """
    Empty unless istiod analyses configurations.
    """

    validation_messages: tuple[ValidationMessage, ...] | None = ()


class EnvoyFilter(ApiObject, frozen=True):
    spec: EnvoyFilterSpec = EnvoyFilterSpec()
    status: EnvoyFilterStatus = EnvoyFilterStatus()


class MatchExpression(Part, frozen=True):
    key: str
    operator: str = ""
    values: tuple[str, ...] | None = ()


class EndpointSelector(Part, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[MatchExpression, ...] | None = ()


class IngressRule(Part, frozen=True):
    from_endpoints: tuple[EndpointSelector, ...] | None = ()


class NetworkPolicySpec(Part, frozen=True):
    endpoint_selector: EndpointSelector | None = None
    ingress: tuple[IngressRule, ...] | None = ()


class NetworkPolicyStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class CiliumNetworkPolicy(ApiObject, frozen=True):
    spec: NetworkPolicySpec = NetworkPolicySpec()
    status: NetworkPolicyStatus = NetworkPolicyStatus()
