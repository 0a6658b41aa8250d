"""
From method and path to what is asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass


_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_MIN_NAMESPACED_PARTS = 3


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """
    A request for a resource, as authorization sees it too.
    """

    verb: str
    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def resource_and_subresource(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def parse_resource_path(method: str, path: str, query: Mapping[str, str]) -> ResourcePath | None:
    """
    None if the path is not that of a resource.
    """
    match path.strip("/").split("/"):
        case ["api", version, *rest] if rest:
            return _parse_resource(method, ("", version), rest, query)
        case ["apis", group, version, *rest] if rest:
            return _parse_resource(method, (group, version), rest, query)
        case _:
            return None


def _parse_resource(
    method: str, where: tuple[str, str], rest: list[str], query: Mapping[str, str]
) -> ResourcePath | None:
    watched = query.get("watch", "") in {"1", "true", "True"}
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= _MIN_NAMESPACED_PARTS and rest[2] != "status":
        namespace, rest = rest[1], rest[2:]
    elif rest[0] == "namespaces" and len(rest) > 1 and where[0] == "":
        namespace = rest[1]
    resource, name, subresource, *more = [*rest, "", ""]
    if any(more):
        return None
    verb = _verb(method, one=bool(name), watched=watched)
    return ResourcePath(verb, *where, resource, namespace, name, subresource)


def _verb(method: str, *, one: bool, watched: bool) -> str:
    if method in _VERBS:
        return _VERBS[method]
    if method == "DELETE":
        return "delete" if one else "deletecollection"
    if watched:
        return "watch"
    return "get" if one else "list"
