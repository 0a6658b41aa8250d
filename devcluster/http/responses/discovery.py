"""
Aggregated discovery (v2) of the served kinds, with an ETag.

The older form, one request for each group and version, is not served: clients within the version
skew of the followed server, kubectl 1.30 and newer, do not need it.
"""

import hashlib

import msgspec

from devcluster.schema.api_errors import Json
from devcluster.schema.kind_registry import KindRegistry
from devcluster.schema.kinds import ServedKind


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
"""The version whose behaviour the API server in memory follows."""


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
