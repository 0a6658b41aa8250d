"""
The DNS of the cluster: a CoreDNS on each node, which answers the pods of that node.

Those of another node would not reach it.
"""

from functools import partial

from e2e.controlplane import Client, Json, until
from e2e.node.images import COREDNS


ADDRESS, DOMAIN = "10.96.0.10", "cluster.local"
READY_WITHIN = 120

_NAME, _NAMESPACE = "coredns", "kube-system"
_READY_PORT = 8181
_CONFIGURATION = f"""\
.:53 {{
    errors
    ready :{_READY_PORT}
    kubernetes {DOMAIN} in-addr.arpa
}}
"""
_METADATA = {"name": _NAME, "namespace": _NAMESPACE}
_LABELS = {"k8s-app": "kube-dns"}
_DAEMON_SET = f"/apis/apps/v1/namespaces/{_NAMESPACE}/daemonsets/{_NAME}"


def install(client: Client, *, nodes: int) -> None:
    """Install it. Returns when it is Ready on so many nodes."""
    for each in (*_rights(), _configuration(), _daemon_set(), _service()):
        client.apply(each)
    until(
        partial(_is_ready, client, nodes), within=READY_WITHIN, what="the cluster's DNS is Ready"
    )


def _is_ready(client: Client, nodes: int) -> bool:
    return bool(client.get(_DAEMON_SET).get("status", {}).get("numberReady", 0) == nodes)


def _rights() -> tuple[Json, ...]:
    api = "rbac.authorization.k8s.io"
    read = ["list", "watch"]
    rules = [
        {"apiGroups": [""], "resources": ["services", "namespaces", "pods"], "verbs": read},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
    ]
    name = {"name": _NAME}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _METADATA},
        {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": name, "rules": rules},
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": name,
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", **name},
            "subjects": [{"kind": "ServiceAccount", **_METADATA}],
        },
    )


def _configuration() -> Json:
    data = {"Corefile": _CONFIGURATION}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _METADATA, "data": data}


def _daemon_set() -> Json:
    container = {
        "name": _NAME,
        "image": COREDNS,
        "args": ["-conf", "/etc/coredns/Corefile"],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": _READY_PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "configuration", "mountPath": "/etc/coredns"}],
    }
    spec = {
        "serviceAccountName": _NAME,
        "priorityClassName": "system-node-critical",
        "dnsPolicy": "Default",
        "containers": [container],
        "volumes": [{"name": "configuration", "configMap": {"name": _NAME}}],
    }
    template = {"metadata": {"labels": _LABELS}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": _METADATA,
        "spec": {"selector": {"matchLabels": _LABELS}, "template": template},
    }


def _service() -> Json:
    ports = [{"name": each.lower(), "port": 53, "protocol": each} for each in ("UDP", "TCP")]
    spec = {
        "clusterIP": ADDRESS,
        "internalTrafficPolicy": "Local",
        "selector": _LABELS,
        "ports": ports,
    }
    metadata = {"name": "kube-dns", "namespace": _NAMESPACE}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
