"""Istio: AuthorizationPolicies, EnvoyFilters, and the names of the extension providers in its MeshConfig."""

import re
from collections.abc import Mapping

import msgspec
import yaml

from reporter.kinds import objects
from reporter.kinds.objects import ApiObject, ApiStruct
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.model.yaml_nesting import check_nesting


class ExtensionProvider(ApiStruct, frozen=True):
    """The name of an entry of extensionProviders in MeshConfig."""

    name: str | None = ""


class AuthorizationPolicySpec(ApiStruct, frozen=True):
    """The spec; if *action* is CUSTOM, a provider decides that MeshConfig defines."""

    action: str | None = ""
    provider: ExtensionProvider | None = None


class AuthorizationPolicy(ApiObject, frozen=True):
    """An AuthorizationPolicy, read for the external authorizer that it asks."""

    spec: AuthorizationPolicySpec = AuthorizationPolicySpec()

    @property
    def provider_name(self) -> str:
        """The provider that decides, "" if the policy decides by itself."""
        provider = self.spec.provider if self.spec.action == "CUSTOM" else None
        return (provider.name or "") if provider is not None else ""


AUTHORIZATION_POLICIES = ResourceKind(
    resource="authorizationpolicies",
    group="security.istio.io",
    versions=("v1", "v1beta1"),
    kind="AuthorizationPolicy",
    type=AuthorizationPolicy,
    index_keys=objects.namespace_keys,
    affects=objects.affects_harness,  # whose Gateway it guards
)


NO_PATCHES = msgspec.Raw(b"")
ENVOY_CLUSTER_PATTERN = re.compile(rb'"(outbound\|[^"\\]{1,300})"')
"""The name that Istio gives the Envoy cluster of a Service: ``outbound|port|subset|host``."""

EXT_AUTHZ_FILTER_TYPE = b"envoy.extensions.filters.http.ext_authz"
"""The type of Envoy's filter for external authorization."""


class WorkloadSelector(ApiStruct, frozen=True):
    """The labels of the proxies that a filter applies to."""

    labels: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "labels", objects.pack_labels(self.labels))


class EnvoyFilterSpec(ApiStruct, frozen=True):
    """
    The spec of an EnvoyFilter; *config_patches* is long, so only two facts of it are kept.

    *clusters*: the upstreams that the patches name. *authorizes*: whether one of the patches is an
    ext_authz filter.
    """

    workload_selector: WorkloadSelector | None = None
    config_patches: msgspec.Raw = NO_PATCHES
    clusters: tuple[str, ...] = ()
    authorizes: bool = False

    def __post_init__(self) -> None:
        patches = bytes(self.config_patches)
        if patches:
            clusters = sorted({name.decode() for name in ENVOY_CLUSTER_PATTERN.findall(patches)})
            msgspec.structs.force_setattr(self, "clusters", tuple(clusters))
            msgspec.structs.force_setattr(self, "authorizes", EXT_AUTHZ_FILTER_TYPE in patches)
            msgspec.structs.force_setattr(self, "config_patches", NO_PATCHES)


class MessageType(ApiStruct, frozen=True):
    """The type of a message of Istio's analysis: *code* such as IST0151, and its name."""

    name: str | None = ""
    code: str | None = ""


class ValidationMessage(ApiStruct, frozen=True):
    """A message of Istio's analysis. *level*: ERROR, WARNING or INFO."""

    level: str | None = ""
    type: MessageType | None = None


class EnvoyFilterStatus(ApiStruct, frozen=True):
    """
    The status, empty unless istiod analyses configurations. *observed_generation* may be a text.
    """

    observed_generation: int | str | None = 0
    validation_messages: tuple[ValidationMessage, ...] | None = ()


class EnvoyFilter(ApiObject, frozen=True):
    """An EnvoyFilter: a patch of the configuration of Gateway proxies."""

    spec: EnvoyFilterSpec = EnvoyFilterSpec()
    status: EnvoyFilterStatus = EnvoyFilterStatus()


ENVOY_FILTERS = ResourceKind(
    resource="envoyfilters",
    group="networking.istio.io",
    versions=("v1alpha3",),
    kind="EnvoyFilter",
    type=EnvoyFilter,
    index_keys=objects.namespace_keys,
    affects=objects.affects_harness,  # whose Gateway it patches
)


MAX_CHARACTERS = 256 * 1024
"""The longest MeshConfig that is parsed, in characters: many times the usual length."""

YAML_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class MeshConfigMapData(ApiStruct, frozen=True):
    """
    The data of the ConfigMap.

    *mesh*: YAML, dropped once *providers* is read from it. *providers*: None if it cannot be parsed.
    """

    mesh: str | None = None
    providers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.mesh is not None:
            msgspec.structs.force_setattr(self, "providers", _provider_names(self.mesh))
            msgspec.structs.force_setattr(self, "mesh", None)


class MeshConfigMap(ApiObject, frozen=True):
    """The ConfigMap with Istio's MeshConfig, of which only the names of providers are kept."""

    data: MeshConfigMapData | None = None

    @property
    def providers(self) -> tuple[str, ...] | None:
        """
        The names of the extension providers, sorted; None if MeshConfig is missing or cannot be read.
        """
        return self.data.providers if self.data is not None else None


def _provider_names(text: str) -> tuple[str, ...] | None:
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        check_nesting(text)
        config = yaml.load(text, Loader=YAML_LOADER)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(config, dict):
        return None
    providers = config.get("extensionProviders") or []
    if not isinstance(providers, list):
        return None
    names = (each.get("name") for each in providers if isinstance(each, dict))
    return tuple(sorted({name for name in names if isinstance(name, str)}))


def mesh_config_affects(_: MeshConfigMap) -> tuple[Subject, ...]:
    """
    Return every harness: AuthorizationPolicies of any namespace may name a provider of the mesh.
    """
    return (objects.ALL_HARNESSES,)


MESH_CONFIG_MAPS = ResourceKind(
    resource="configmaps",
    group="",
    versions=("v1",),
    kind="ConfigMap",
    type=MeshConfigMap,
    affects=mesh_config_affects,
    object_name="istio",
)
