"""
What a kind of object is, as far as the API server treats kinds differently.
"""

from dataclasses import dataclass
from enum import Enum, unique


ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


@unique
class GenerationPolicy(Enum):
    """
    What raises metadata.generation of an object.
    """

    NEVER = "never"
    SPEC = "spec"
    SPEC_AND_ANNOTATIONS = "spec and annotations"
    ALL_BUT_STATUS = "all but metadata and status"


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """
    One column of a Table; priority 0 is always shown, others with -o wide.
    """

    name: str
    type: str = "string"
    json_path: str = ""
    priority: int = 0
    format: str = ""


@dataclass(frozen=True, slots=True)
class ServedKind:
    """
    One resource of one group and version.
    """

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
    """
    Whether PUT may leave out the resourceVersion.
    """
    returns_deleted: bool = False
    """
    Whether DELETE answers with the object instead of a Status.
    """
    is_watch_cached: bool = True
    """
    Whether reads come from the watch cache; of Events they come from etcd, and differ in details.
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
