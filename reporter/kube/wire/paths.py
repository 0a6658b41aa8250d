"""
Paths of the API: made from a kind, and read back into the right that a request needs.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

from reporter.model.kinds.base.resource_kind import ResourceKind


Query: TypeAlias = Sequence[tuple[str, str]]

_RESOURCE = re.compile(
    r"^/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+)(?:(?<=/proxy)/.*)?)?$"
)

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def collection_path(kind: ResourceKind, version: str) -> str:
    """
    Where all objects of a kind are listed.
    """
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    return f"{root}/{kind.resource}"


def name_field_selector(kind: ResourceKind) -> str:
    """
    The field selector by which a right that is limited to this name suffices; empty for all names.
    """
    return f"metadata.name={kind.object_name}" if kind.object_name else ""


def is_object_path(path: str) -> bool:
    """
    Whether a request to this path is about one object, rather than about a resource.
    """
    found = _RESOURCE.match(path)
    return found is not None and found["name"] is not None


def required_permission(method: str, path: str, query: Query = ()) -> str:
    """
    The right that a request needs, as RBAC names it: "list deployments.apps".
    """
    found = _RESOURCE.match(path)
    if found is None:
        return f"{method.lower()} {path}"
    resource = f"{found['resource']}.{found['group']}" if found["group"] else found["resource"]
    subresource = f"/{found['sub']}" if found["sub"] else ""
    return f"{_verb(method, query, named=found['name'] is not None)} {resource}{subresource}"


def _verb(method: str, query: Query, *, named: bool) -> str:
    if method != "GET":
        return _VERBS.get(method, method.lower())
    if any(name == "watch" and value in {"1", "true"} for name, value in query):
        return "watch"
    return "get" if named else "list"
