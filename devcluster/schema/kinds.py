"""The properties in which the API server's kinds differ."""

from dataclasses import dataclass
from enum import Enum, unique


ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


@unique
class GenerationPolicy(Enum):
    """The changes that raise metadata.generation of an object."""

    NEVER = "never"
    SPEC = "spec"
    SPEC_AND_ANNOTATIONS = "spec and annotations"
    ALL_BUT_STATUS = "all but metadata and status"


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A column of a Table; kubectl prints those above priority 0 only with -o wide."""

    name: str
    type: str = "string"
    json_path: str = ""
    priority: int = 0
    format: str = ""


@dataclass(frozen=True, slots=True)
class ServedKind:
    """A resource of one group and version."""

    group: str
    version: str
    resource: str
    kind: str
    singular: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    generation: GenerationPolicy = GenerationPolicy.NEVER
    is_custom: bool = False
    columns: tuple[PrinterColumn, ...] = ()
    unconditional_update: bool = True
    """True if PUT may omit the resourceVersion."""
    returns_deleted: bool = False
    """True if DELETE responds with the object instead of a Status."""
    is_watch_cached: bool = True
    """
    True if reads come from the watch cache. Those of Events come from etcd and have other error texts.
    """

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources
