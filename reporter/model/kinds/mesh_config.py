"""
Istio's MeshConfig, of which only the names of its providers are kept.
"""

import msgspec
import yaml

from reporter.model.kinds.objects import ApiObject, ApiStruct


MAX_CHARACTERS = 256 * 1024
"""
Characters of a MeshConfig that are read: many times what one has.
"""

YAML_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class MeshConfigMapData(ApiStruct, frozen=True):
    """
    *mesh* is YAML and not kept: only *providers*, None where it cannot be told which there are.
    """

    mesh: str | None = None
    providers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.mesh is not None:
            msgspec.structs.force_setattr(self, "providers", _provider_names(self.mesh))
            msgspec.structs.force_setattr(self, "mesh", None)


class MeshConfigMap(ApiObject, frozen=True):
    """
    The ConfigMap that istiod reads.
    """

    data: MeshConfigMapData | None = None

    @property
    def providers(self) -> tuple[str, ...] | None:
        return self.data.providers if self.data is not None else None


def _provider_names(text: str) -> tuple[str, ...] | None:
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        found = yaml.load(text, Loader=YAML_LOADER)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    listed = found.get("extensionProviders") or []
    if not isinstance(listed, list):
        return None
    names = (each.get("name") for each in listed if isinstance(each, dict))
    return tuple(sorted({name for name in names if isinstance(name, str)}))
