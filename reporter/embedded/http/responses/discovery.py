"""
Discovery of the served kinds: the aggregated form with an ETag, and the older one.

kubectl before 1.30 does not ask for the aggregated form v2 first, and gets the older one.
"""

import hashlib

import msgspec

from reporter.embedded.schema.api_errors import ApiError, Json, PathNotFound, no_such_resource
from reporter.embedded.schema.kind_registry import KindRegistry
from reporter.embedded.schema.kinds import ServedKind


AGGREGATED_MEDIA_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUBRESOURCE_VERBS = ["get", "patch", "update"]
SERVER_VERSION = {
    "major": "1",
    "minor": "35",
    "gitVersion": "v1.35.4",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
"""
The version whose behaviour the embedded server follows.
"""


def accepts_aggregated(accept: str) -> bool:
    first = accept.partition(",")[0].replace(" ", "")
    return {"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"} <= set(first.split(";"))


def etag(body: bytes) -> str:
    return f'"{hashlib.sha512(body).hexdigest().upper()}"'


def aggregated_discovery(registry: KindRegistry, stale: set[str], *, core: bool) -> bytes:
    """
    Encode the aggregated discovery of /api (*core*) or /apis.

    Groups in *stale* have no resources, as when their aggregated API server is unavailable.
    """
    groups = registry.groups()
    names = [name for name in groups if (name == "") is core]
    items = [_aggregated_group(name, groups[name], stale=name in stale) for name in names]
    if not core:
        items += [
            _aggregated_group(name, {"v1beta1": []}, stale=True)
            for name in sorted(stale - set(groups))
        ]
    return msgspec.json.encode(
        {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }
    )


def _aggregated_group(name: str, versions: dict[str, list[ServedKind]], *, stale: bool) -> Json:
    return {
        "metadata": {"name": name} if name else {},
        "versions": [
            {"version": version, "freshness": "Stale"}
            if stale
            else {
                "version": version,
                "resources": [_aggregated_resource(kind) for kind in kinds],
                "freshness": "Current",
            }
            for version, kinds in versions.items()
        ],
    }


def _response_kind(kind: ServedKind, sub: str = "") -> Json:
    if sub == "scale":
        return {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    if kind.is_custom:
        return {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return {"group": "", "version": "", "kind": kind.kind}


def _aggregated_resource(kind: ServedKind) -> Json:
    entry: Json = {
        "resource": kind.resource,
        "responseKind": _response_kind(kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": kind.verbs,
    }
    if kind.short_names:
        entry["shortNames"] = kind.short_names
    if kind.categories:
        entry["categories"] = kind.categories
    if kind.subresources:
        entry["subresources"] = [
            {
                "subresource": sub,
                "responseKind": _response_kind(kind, sub),
                "verbs": _SUBRESOURCE_VERBS,
            }
            for sub in kind.subresources
        ]
    return entry


def api_versions() -> Json:
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
    }


def group_list(registry: KindRegistry) -> Json:
    names = [name for name in registry.groups() if name]
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group_entry(registry, name) for name in names],
    }


def group_discovery(registry: KindRegistry, name: str) -> Json:
    if name not in registry.groups():
        raise PathNotFound
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_entry(registry, name)}


def _group_entry(registry: KindRegistry, name: str) -> Json:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in registry.groups()[name]
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(registry: KindRegistry, stale: set[str], group_name: str, version: str) -> Json:
    """
    List the resources of one group and version. Raise a 503 if stale, a 404 if not served.
    """
    if group_name in stale:
        raise ApiError(503, "ServiceUnavailable", "service unavailable")
    versions = registry.groups().get(group_name)
    if versions is None or version not in versions:
        if versions and not versions[next(iter(versions))][0].is_custom:
            raise no_such_resource()
        raise PathNotFound
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group_name}/{version}" if group_name else version,
        "resources": [entry for kind in versions[version] for entry in _resource_entries(kind)],
    }


def _resource_entries(kind: ServedKind) -> list[Json]:
    main: Json = {
        "name": kind.resource,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": kind.verbs,
    }
    if kind.short_names:
        main["shortNames"] = kind.short_names
    if kind.categories:
        main["categories"] = kind.categories
    subs = [
        {
            "name": f"{kind.resource}/{sub}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **({"group": "autoscaling", "version": "v1"} if sub == "scale" else {}),
            "kind": "Scale" if sub == "scale" else kind.kind,
            "verbs": _SUBRESOURCE_VERBS,
        }
        for sub in kind.subresources
    ]
    return [main, *subs]
