"""Parsing of method and path into verb, resource and object."""

from collections.abc import Mapping
from dataclasses import dataclass


_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_MIN_NAMESPACED_PARTS = 3


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """The verb and the path of a request for a resource."""

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
    """Parse the path of a request; None if it is not the path of a resource."""
    match path.strip("/").split("/"):
        case ["api", version, *rest] if rest:
            return _parse_resource(method, ("", version), rest, query)
        case ["apis", group, version, *rest] if rest:
            return _parse_resource(method, (group, version), rest, query)
        case _:
            return None


def _parse_resource(
    method: str, group_version: tuple[str, str], rest: list[str], query: Mapping[str, str]
) -> ResourcePath | None:
    is_watch = query.get("watch", "") in {"1", "true", "True"}
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= _MIN_NAMESPACED_PARTS and rest[2] != "status":
        namespace, rest = rest[1], rest[2:]
    elif rest[0] == "namespaces" and len(rest) > 1 and group_version[0] == "":
        namespace = rest[1]
    resource, name, subresource, *more = [*rest, "", ""]
    if any(more):
        return None
    verb = _verb(method, has_name=bool(name), is_watch=is_watch)
    return ResourcePath(verb, *group_version, resource, namespace, name, subresource)


def _verb(method: str, *, has_name: bool, is_watch: bool) -> str:
    if method in _VERBS:
        return _VERBS[method]
    if method == "DELETE":
        return "delete" if has_name else "deletecollection"
    if is_watch:
        return "watch"
    return "get" if has_name else "list"
