"""
An example production stack: the Deployments of its control plane as they are really installed.

The manifests are plain dicts, for any API server; the rest drives them over HTTP.
"""

import contextlib
import datetime as dt
from dataclasses import dataclass, field

from e2e.controlplane import faults
from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.waiting import until


IMAGE = "example.invalid/never-run:1"


@dataclass(frozen=True)
class StackComponent:
    namespace: str
    name: str
    labels: dict[str, str]
    replicas: int = 1
    rolling_update: dict[str, str | int] = field(default_factory=dict)


ISTIOD = StackComponent(
    *("istio-system", "istiod", {"app": "istiod"}),
    rolling_update={"maxSurge": "100%", "maxUnavailable": "25%"},
)
BODY_BASED_ROUTER = StackComponent(
    "kaito-system", "body-based-router", {"app": "body-based-router"}, replicas=2
)
APIKEY_AUTHZ = StackComponent(
    *("llm-gateway-auth", "apikey-authz", {"app.kubernetes.io/component": "apikey-authz"}),
    replicas=3,
)
APIKEY_OPERATOR = StackComponent(
    *("llm-gateway-auth", "apikey-operator", {"app.kubernetes.io/component": "apikey-operator"}),
    replicas=2,
)
KAITO_WORKSPACE = StackComponent(
    *("kaito-system", "kaito-workspace", {"app.kubernetes.io/name": "workspace"}),
    rolling_update={"maxSurge": "25%", "maxUnavailable": 1},
)
NODE_PROVISIONER = StackComponent(
    "gpu-provisioner", "gpu-provisioner", {"app.kubernetes.io/name": "gpu-provisioner"}
)
"""
A component that is evaluated only if the reporter is configured for it.
"""
KEDA_OPERATOR = StackComponent("keda", "keda-operator", {"app": "keda-operator"})
KEDA_METRICS_APISERVER = StackComponent(
    "keda", "keda-operator-metrics-apiserver", {"app": "keda-operator-metrics-apiserver"}
)
KEDA_ADMISSION_WEBHOOKS = StackComponent(
    "keda", "keda-admission-webhooks", {"app": "keda-admission-webhooks"}
)
KEDA_KAITO_SCALER = StackComponent(
    "keda", "keda-kaito-scaler", {"app.kubernetes.io/name": "keda-kaito-scaler"}
)
COMPONENTS = (
    ISTIOD,
    BODY_BASED_ROUTER,
    APIKEY_AUTHZ,
    APIKEY_OPERATOR,
    KAITO_WORKSPACE,
    NODE_PROVISIONER,
    KEDA_OPERATOR,
    KEDA_METRICS_APISERVER,
    KEDA_ADMISSION_WEBHOOKS,
    KEDA_KAITO_SCALER,
)


# ---------------------------------------------------------------- manifests


def manifests() -> list[Json]:
    """
    Return the manifests in an order in which they can be created.
    """
    namespaces = sorted({each.namespace for each in COMPONENTS})
    return [
        *(namespace_manifest(each) for each in namespaces),
        *(deployment_manifest(each) for each in COMPONENTS),
    ]


def namespace_manifest(name: str, labels: dict[str, str] | None = None) -> Json:
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def deployment_manifest(component: StackComponent) -> Json:
    strategy: Json = {"type": "RollingUpdate"}
    if component.rolling_update:
        strategy["rollingUpdate"] = component.rolling_update
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": component.name,
            "namespace": component.namespace,
            "labels": component.labels,
        },
        "spec": {
            "replicas": component.replicas,
            "selector": {"matchLabels": component.labels},
            "strategy": strategy,
            "template": {
                "metadata": {"labels": component.labels},
                "spec": {"containers": [{"name": component.name, "image": IMAGE}]},
            },
        },
    }


# ---------------------------------------------------------------- over HTTP


def install(client: Client) -> None:
    """
    Install the stack. Returns when every Deployment is Ready.
    """
    for manifest in manifests():
        client.apply(manifest)
    for component in COMPONENTS:
        until_ready(client, component)


def path(component: StackComponent) -> str:
    return f"/apis/apps/v1/namespaces/{component.namespace}/deployments/{component.name}"


def deployment(client: Client, component: StackComponent) -> Json:
    return client.get(path(component))


def pods(client: Client, component: StackComponent) -> list[Json]:
    """
    Return the pods of a component's selector, without those being deleted.
    """
    selector = ",".join(f"{key}={value}" for key, value in component.labels.items())
    found = client.list(f"/api/v1/namespaces/{component.namespace}/pods", labelSelector=selector)
    return [
        {"apiVersion": "v1", "kind": "Pod", **pod}
        for pod in found
        if "deletionTimestamp" not in pod["metadata"]
    ]


def scale(client: Client, component: StackComponent, replicas: int) -> None:
    client.patch(f"{path(component)}/scale", {"spec": {"replicas": replicas}})


def restart(client: Client, component: StackComponent) -> None:
    """
    Restart a Deployment as kubectl rollout restart does.
    """
    now = dt.datetime.now(dt.UTC).isoformat()
    annotations = {"kubectl.kubernetes.io/restartedAt": now}
    template = {"metadata": {"annotations": annotations}}
    client.patch(path(component), {"spec": {"template": template}})


def until_ready(client: Client, component: StackComponent, *, within: float = 60) -> Json:
    """
    Wait for the Deployment until all its replicas are of its newest version and Ready, and no
    others are left. The pods are counted too: for a moment the status can miss a ReplicaSet's
    newest pod.
    """

    def read() -> Json | None:
        found = deployment(client, component)
        settled = is_ready(found) and len(pods(client, component)) == found["spec"]["replicas"]
        return found if settled else None

    what = f"Deployment {component.namespace}/{component.name} is Ready"
    return until(read, within=within, what=what)


def until_started(client: Client, component: StackComponent) -> None:
    """
    Let a Deployment become Ready, whatever its pods were waiting for.
    """

    def started() -> bool:
        for pod in pods(client, component):
            with contextlib.suppress(ApiError):  # a rollout may have taken it away meanwhile
                faults.clear_pod_fault(client, pod)
        return is_ready(deployment(client, component))

    until(started, within=60, what=f"{component.name} has started")
    until_ready(client, component)


def is_ready(found: Json) -> bool:
    status, wanted = found.get("status", {}), found["spec"]["replicas"]
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    seen = status.get("observedGeneration", 0) >= found["metadata"]["generation"]
    return seen and all(status.get(count, 0) == wanted for count in counts)
