"""AuthorizationPolicies of Istio."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import namespace_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import harness_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class ExtensionProvider(ApiStruct, frozen=True):
    name: str | None = ""


class AuthorizationPolicySpec(ApiStruct, frozen=True):
    """The spec; if *action* is CUSTOM, a provider decides that MeshConfig defines."""

    action: str | None = ""
    provider: ExtensionProvider | None = None


class AuthorizationPolicy(ApiObject, frozen=True):
    spec: AuthorizationPolicySpec = AuthorizationPolicySpec()

    @property
    def provider_name(self) -> str:
        """The provider that decides, "" if the policy decides by itself."""
        provider = self.spec.provider if self.spec.action == "CUSTOM" else None
        return (provider.name or "") if provider is not None else ""


def affects(policy: AuthorizationPolicy) -> tuple[Subject, ...]:
    return (harness_of(policy),)


AUTHORIZATION_POLICIES = ResourceKind(
    resource="authorizationpolicies",
    group="security.istio.io",
    versions=("v1", "v1beta1"),
    kind="AuthorizationPolicy",
    type=AuthorizationPolicy,
    index_keys=namespace_keys,
    affects=affects,
)
