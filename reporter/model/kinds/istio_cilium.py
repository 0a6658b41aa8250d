"""
Partial objects of Istio and Cilium.
"""

import re

import msgspec

from reporter.model.kinds.objects import ApiObject, ApiStruct, Condition


NO_PATCHES = msgspec.Raw(b"")
ENVOY_CLUSTER_PATTERN = re.compile(rb'"(outbound\|[^"\\]{1,300})"')
"""
The name that Istio gives the Envoy cluster of a Service: ``outbound|port|subset|host``.
"""

EXT_AUTHZ_FILTER_TYPE = b"envoy.extensions.filters.http.ext_authz"
"""
The type of Envoy's filter for external authorization.
"""


class WorkloadSelector(ApiStruct, frozen=True):
    labels: dict[str, str] | None = None


class EnvoyFilterSpec(ApiStruct, frozen=True):
    """
    *config_patches* are not kept, as they are long: only what is read of them.

    *clusters*: the upstreams they name. *authorizes*: whether one of them is an ext_authz filter.
    """

    workload_selector: WorkloadSelector | None = None
    config_patches: msgspec.Raw = NO_PATCHES
    clusters: tuple[str, ...] = ()
    authorizes: bool = False

    def __post_init__(self) -> None:
        patches = bytes(self.config_patches)
        if patches:
            clusters = sorted({found.decode() for found in ENVOY_CLUSTER_PATTERN.findall(patches)})
            msgspec.structs.force_setattr(self, "clusters", tuple(clusters))
            msgspec.structs.force_setattr(self, "authorizes", EXT_AUTHZ_FILTER_TYPE in patches)
            msgspec.structs.force_setattr(self, "config_patches", NO_PATCHES)


class MessageType(ApiStruct, frozen=True):
    name: str | None = ""
    code: str | None = ""


class ValidationMessage(ApiStruct, frozen=True):
    level: str | None = ""
    type: MessageType | None = None


class EnvoyFilterStatus(ApiStruct, frozen=True):
    """
    Empty unless istiod analyses configurations. Its *observed_generation* may be a text.
    """

    observed_generation: int | str | None = 0
    validation_messages: tuple[ValidationMessage, ...] | None = ()


class EnvoyFilter(ApiObject, frozen=True):
    spec: EnvoyFilterSpec = EnvoyFilterSpec()
    status: EnvoyFilterStatus = EnvoyFilterStatus()


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


class ExtensionProvider(ApiStruct, frozen=True):
    name: str | None = ""


class AuthorizationPolicySpec(ApiStruct, frozen=True):
    """
    With *action* CUSTOM a provider decides, which MeshConfig defines.
    """

    action: str | None = ""
    provider: ExtensionProvider | None = None


class AuthorizationPolicy(ApiObject, frozen=True):
    spec: AuthorizationPolicySpec = AuthorizationPolicySpec()

    @property
    def provider_name(self) -> str:
        """
        Who decides; empty if it decides by itself.
        """
        named = self.spec.provider if self.spec.action == "CUSTOM" else None
        return (named.name or "") if named is not None else ""
