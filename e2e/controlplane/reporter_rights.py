"""
What the reporter may do in a cluster, and single rights taken away and given back.
"""

import contextlib
from collections.abc import Collection, Iterator

from e2e.controlplane.client import Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.waiting import until


NAME = "productionstack-status-reporter"
_READ = ["get", "list", "watch"]
_GROUPS = {
    "namespaces": "",
    "pods": "",
    "pods/proxy": "",
    "deployments": "apps",
    "gatewayclasses": "gateway.networking.k8s.io",
    "gateways": "gateway.networking.k8s.io",
    "httproutes": "gateway.networking.k8s.io",
    "inferencepools": "inference.networking.k8s.io",
    "inferencesets": "kaito.sh",
    "workspaces": "kaito.sh",
    "apikeys": "kaito.sh",
    "envoyfilters": "networking.istio.io",
    "ciliumnetworkpolicies": "cilium.io",
    "events": "",
    "leases": "coordination.k8s.io",
}
_OF_SOURCES = {
    "keda": {"scaledobjects": "keda.sh", "horizontalpodautoscalers": "autoscaling"},
    "karpenter": {"nodeclaims": "karpenter.sh"},
    "istio": {"authorizationpolicies": "security.istio.io", "configmaps": ""},
}
_EVERY_GROUP = {**_GROUPS, **{k: v for each in _OF_SOURCES.values() for k, v in each.items()}}
_NAMED = {"configmaps": "istio"}
"""
The only one of its kind that may be read.
"""

_ELSEWHERE = {"events", "leases", "pods/proxy"}


def install(client: Client, release_namespace: str, sources: Collection[str] = ()) -> None:
    """
    The namespace, the ServiceAccount and all its rights; also puts back what was taken away.
    """
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": release_namespace}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta(release_namespace)}
    given = roles(release_namespace, sources)
    for manifest in (namespace, account, *given, *_bindings(release_namespace)):
        client.apply(manifest)


def roles(release_namespace: str, sources: Collection[str] = ()) -> list[Json]:
    """
    *sources*: those of ``--sources``, each with rights of its own.
    """
    read = [_rule(resource, _READ) for resource in _GROUPS if resource not in _ELSEWHERE]
    read += [_rule("pods/proxy", ["get"])]
    read += [_rule(resource, _READ) for source in sources for resource in _OF_SOURCES[source]]
    lease = {**_rule("leases", ["get", "update", "patch"]), "resourceNames": [NAME]}
    return [
        _role("ClusterRole", None, read),
        _role("Role", "kube-system", [_rule("events", ["create", "patch", "get", "list"])]),
        _role("Role", release_namespace, [_rule("leases", ["create"]), lease]),
    ]


@contextlib.contextmanager
def revoked(
    client: Client,
    release_namespace: str,
    resource: str,
    *verbs: str,
    sources: Collection[str] = (),
) -> Iterator[None]:
    """
    Without the right to *verbs* (all of them, when none is named) on *resource*.
    """
    for role in roles(release_namespace, sources):
        _replace(client, role | {"rules": _without(role["rules"], resource, verbs)})
    _until_allowed(client, release_namespace, resource, verbs, allowed=False)
    try:
        yield
    finally:
        for role in roles(release_namespace, sources):
            _replace(client, role)
        _until_allowed(client, release_namespace, resource, verbs, allowed=True)


def _without(rules: list[Json], resource: str, verbs: tuple[str, ...]) -> list[Json]:
    left = []
    for rule in rules:
        kept = [verb for verb in rule["verbs"] if verbs and verb not in verbs]
        if resource not in rule["resources"]:
            left.append(rule)
        elif kept:
            left.append(rule | {"verbs": kept})
    return left


def _until_allowed(
    client: Client, release_namespace: str, resource: str, verbs: tuple[str, ...], *, allowed: bool
) -> None:
    """
    The API server learns of a changed role from a watch of its own, a moment later.
    """
    namespace = {"events": "kube-system", "leases": release_namespace}.get(resource, "")
    attributes = {
        "group": _EVERY_GROUP[resource],
        "resource": resource,
        "verb": verbs[0]
        if verbs
        else {"events": "create", "leases": "create"}.get(resource, "list"),
        "namespace": namespace,
        "name": NAME if resource == "leases" else _NAMED.get(resource, ""),
    }
    user = f"system:serviceaccount:{release_namespace}:{NAME}"
    review = {"spec": {"user": user, "resourceAttributes": attributes}}

    def answered() -> bool:
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(client.create(path, review)["status"]["allowed"]) is allowed

    until(answered, within=10, what=f"{resource} allowed: {allowed}")


def _replace(client: Client, role: Json) -> None:
    client.put(client.path(role), role)


def _bindings(release_namespace: str) -> Iterator[Json]:
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": release_namespace}
    for role in roles(release_namespace):
        yield {
            "apiVersion": role["apiVersion"],
            "kind": f"{role['kind']}Binding",
            "metadata": role["metadata"],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": role["kind"],
                "name": NAME,
            },
            "subjects": [subject],
        }


def _role(kind: str, namespace: str | None, rules: list[Json]) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": _meta(namespace),
        "rules": rules,
    }


def _rule(resource: str, verbs: list[str]) -> Json:
    named = {"resourceNames": [_NAMED[resource]]} if resource in _NAMED else {}
    group = _EVERY_GROUP[resource]
    return {"apiGroups": [group], "resources": [resource], "verbs": verbs, **named}


def _meta(namespace: str | None) -> Json:
    return {"name": NAME} | ({"namespace": namespace} if namespace else {})
