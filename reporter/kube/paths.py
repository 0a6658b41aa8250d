"""
Build API paths from kinds, and derive the RBAC permission that a request needs from its path.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

from reporter.kinds.resource_kind import ResourceKind


Query: TypeAlias = Sequence[tuple[str, str]]

_RESOURCE = re.compile(
    r"^/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+)(?:(?<=/proxy)/.*)?)?$"
)

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def collection_path(kind: ResourceKind, version: str, namespace: str = "") -> str:
    """
    Return the path that lists the objects of a kind in *namespace*.

    Without one it is that of the namespace to which the kind's watch is limited, or of all namespaces.
    """
    namespace = namespace or kind.namespace
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    return (
        f"{root}/namespaces/{namespace}/{kind.resource}"
        if namespace
        else f"{root}/{kind.resource}"
    )


def name_field_selector(kind: ResourceKind) -> str:
    """
    Return the fieldSelector of list and watch, by name for a kind with one object of interest.

    It is empty for all objects. With a name RBAC authorizes list and watch by a rule with
    ``resourceNames``.
    """
    return f"metadata.name={kind.object_name}" if kind.object_name else kind.field_selector


def is_object_path(path: str) -> bool:
    """Return whether the path names one object rather than a resource."""
    found = _RESOURCE.match(path)
    return found is not None and found["name"] is not None


def required_permission(method: str, path: str, query: Query = ()) -> str:
    """Return the permission that a request needs in RBAC terms, as "list deployments.apps"."""
    found = _RESOURCE.match(path)
    if found is None:
        return f"{method.lower()} {path}"
    resource = f"{found['resource']}.{found['group']}" if found["group"] else found["resource"]
    subresource = f"/{found['sub']}" if found["sub"] else ""
    return f"{_verb(method, query, named=found['name'] is not None)} {resource}{subresource}"


def request_verb(method: str, path: str, query: Query = ()) -> str:
    """
    Return the verb of a request, as the API server's audit log has it.

    A GET of a path that is no resource, such as ``/version``, is a get.
    """
    found = _RESOURCE.match(path)
    return _verb(method, query, named=found is None or found["name"] is not None)


def _verb(method: str, query: Query, *, named: bool) -> str:
    if method != "GET":
        return _VERBS.get(method, method.lower())
    if any(name == "watch" and value in {"1", "true"} for name, value in query):
        return "watch"
    return "get" if named else "list"
