"""
The ConfigMap with Istio's MeshConfig, of which only the names of its extension providers are kept.
"""

import msgspec
import yaml

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import ALL_HARNESSES
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.model.text.yaml_nesting import check_nesting


MAX_CHARACTERS = 256 * 1024
"""The longest MeshConfig that is parsed, in characters: many times the usual length."""

YAML_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class MeshConfigMapData(ApiStruct, frozen=True):
    """*mesh* is YAML and dropped once *providers* is read from it; None if it cannot be parsed."""

    mesh: str | None = None
    providers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.mesh is not None:
            msgspec.structs.force_setattr(self, "providers", _provider_names(self.mesh))
            msgspec.structs.force_setattr(self, "mesh", None)


class MeshConfigMap(ApiObject, frozen=True):
    """The ConfigMap that istiod reads."""

    data: MeshConfigMapData | None = None

    @property
    def providers(self) -> tuple[str, ...] | None:
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


def affects(_: MeshConfigMap) -> tuple[Subject, ...]:
    """
    Return every harness: AuthorizationPolicies of any namespace may name a provider of the mesh.
    """
    return (ALL_HARNESSES,)


MESH_CONFIG_MAPS = ResourceKind(
    resource="configmaps",
    group="",
    versions=("v1",),
    kind="ConfigMap",
    type=MeshConfigMap,
    index_keys=no_index_keys,
    affects=affects,
    object_name="istio",
)
