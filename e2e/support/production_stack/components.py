"""
An example production stack: the Deployments of its control plane as they are really installed.

The manifests are plain dicts, for any API server; the rest drives them over HTTP.
"""

import contextlib
import datetime as dt
from dataclasses import dataclass
from typing import Self, TypeAlias

from e2e.controlplane import faults
from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.waiting import until
from reporter.model.enums import Layer
from reporter.probes import deployments
from reporter.resources.components import ComponentSpec
from reporter.stories.healthy_stack import (
    KNOWN_COMPONENTS,
    ExampleComponent,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


IMAGE = "example.invalid/never-run:1"


StackComponent: TypeAlias = ExampleComponent


def find_component(name: str) -> StackComponent:
    """Return the component whose Deployment has this name. Raise KeyError if there is none."""
    return {each.name: each for each in KNOWN_COMPONENTS}[name]


ISTIOD = find_component("istiod")
BODY_BASED_ROUTER = find_component("body-based-router")
APIKEY_AUTHZ = find_component("apikey-authz")
APIKEY_OPERATOR = find_component("apikey-operator")
KAITO_WORKSPACE = find_component("kaito-workspace")
NODE_PROVISIONER = find_component("gpu-provisioner")
KEDA_OPERATOR = find_component("keda-operator")
KEDA_METRICS_APISERVER = find_component("keda-operator-metrics-apiserver")
KEDA_KAITO_SCALER = find_component("keda-kaito-scaler")
COMPONENTS = KNOWN_COMPONENTS


@dataclass(frozen=True)
class EvaluatedComponent:
    """
    A component whose outage is announced, and the flags of its namespace and name.

    *name_flag* is empty if no flag names it.
    """

    component: StackComponent
    namespace_flag: str
    name_flag: str

    @classmethod
    def from_parameters(cls, spec: ComponentSpec) -> Self:
        for each in COMPONENTS:
            if (
                each.name == spec.name
                or (spec.name_flag and each.switched_on_by == spec.name_flag)
                or (spec.labels and spec.labels.items() <= each.labels.items())
            ):
                return cls(each, spec.namespace_flag, spec.name_flag)
        raise LookupError(f"add {spec} to reporter/stories/components.yaml")


def evaluated_components() -> dict[str, EvaluatedComponent]:
    """
    Return the first component of each reason about Deployments of the control plane, by reason,
    highest rank first.
    """
    return {
        entry.reason: EvaluatedComponent.from_parameters(entry.parameters.components[0])
        for entry in DEFAULT_CATALOGUE.evaluated_entries(Layer.CLUSTER)
        if entry.probe == deployments.PROBE.spec.name
    }


# ---------------------------------------------------------------- manifests


def manifests() -> list[Json]:
    """Return the manifests in an order in which they can be created."""
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
    """Install the stack. Returns when every Deployment is Ready."""
    for manifest in manifests():
        client.apply(manifest)
    for component in COMPONENTS:
        until_ready(client, component)


def path(component: StackComponent) -> str:
    return f"/apis/apps/v1/namespaces/{component.namespace}/deployments/{component.name}"


def deployment(client: Client, component: StackComponent) -> Json:
    return client.get(path(component))


def pods(client: Client, component: StackComponent) -> list[Json]:
    """Return the pods of a component's selector, without those being deleted."""
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
    """Restart a Deployment as kubectl rollout restart does."""
    now = dt.datetime.now(dt.UTC).isoformat()
    annotations = {"kubectl.kubernetes.io/restartedAt": now}
    template = {"metadata": {"annotations": annotations}}
    client.patch(path(component), {"spec": {"template": template}})


def roll_out_slowly(client: Client, component: StackComponent) -> None:
    """Roll out a new version whose pods stay in ContainerCreating."""
    faults.set_rollout_fault(client, deployment(client, component), faults.STARTING)


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
    """Let a Deployment become Ready, whatever its pods were waiting for."""

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
