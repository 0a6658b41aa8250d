"""
The healthy example stack: its namespaces, its control plane and one team's model, an hour old.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from reporter.embedded.controllers.workloads import (
    NODE,
    deployment_status,
    new_pod,
    new_replica_set,
    running_status,
    with_pods,
)
from reporter.embedded.example import team
from reporter.embedded.example.crds import crds
from reporter.embedded.schema import times
from reporter.embedded.schema.api_errors import Json
from reporter.embedded.schema.builtin_kinds import DEPLOYMENT
from reporter.embedded.schema.defaults import apply_defaults


STACK_AGE = timedelta(hours=1)
NAMESPACES = ("istio-system", "kaito-system", "keda", "llm-gateway-auth")


@dataclass(frozen=True, slots=True)
class ExampleComponent:
    """
    One Deployment of the control plane.
    """

    namespace: str
    name: str
    replicas: int
    labels: tuple[tuple[str, str], ...]


_APP, _NAME, _PART = "app", "app.kubernetes.io/name", "app.kubernetes.io/component"
COMPONENTS = (
    ExampleComponent("istio-system", "istiod", 1, ((_APP, "istiod"), ("istio.io/rev", "default"))),
    ExampleComponent("kaito-system", "body-based-router", 2, ((_APP, "body-based-router"),)),
    ExampleComponent("kaito-system", "kaito-workspace", 1, ((_NAME, "workspace"),)),
    ExampleComponent(
        "keda", "keda-operator", 1, ((_APP, "keda-operator"), (_NAME, "keda-operator"))
    ),
    ExampleComponent(
        "keda", "keda-operator-metrics-apiserver", 1, ((_APP, "keda-operator-metrics-apiserver"),)
    ),
    ExampleComponent("keda", "keda-admission-webhooks", 1, ((_APP, "keda-admission-webhooks"),)),
    ExampleComponent("keda", "keda-kaito-scaler", 1, ((_NAME, "keda-kaito-scaler"),)),
    ExampleComponent("llm-gateway-auth", "apikey-authz", 3, ((_PART, "apikey-authz"),)),
    ExampleComponent("llm-gateway-auth", "apikey-operator", 2, ((_PART, "apikey-operator"),)),
)


def manifests(now: datetime) -> Iterator[Json]:
    """
    Everything, in an order in which it can be stored.
    """
    born = now - STACK_AGE
    for manifest in _base_objects(born):
        manifest["metadata"].setdefault("creationTimestamp", times.format_time(born))
        yield manifest
    for component in COMPONENTS:
        yield from with_running_pods(component_deployment(component), born)
    for manifest in team.deployments():
        yield from with_running_pods(manifest, born)
    for manifest in team.manifests(born):
        manifest["metadata"].setdefault("creationTimestamp", times.format_time(born))
        yield manifest


def _base_objects(born: datetime) -> Iterator[Json]:
    yield from crds()
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield team.namespace()
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": times.format_time(born)}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}},
        "status": {"conditions": [condition]},
    }


def component_deployment(component: ExampleComponent) -> Json:
    labels = dict(component.labels)
    return team.deployment(
        component.namespace, component.name, labels, replicas=component.replicas
    )


def with_running_pods(manifest: Json, born: datetime) -> Iterator[Json]:
    """
    A Deployment, its ReplicaSet and its pods, all ready since *born*.
    """
    meta = manifest["metadata"]
    meta.update(uid=str(uuid.uuid4()), generation=1, creationTimestamp=times.format_time(born))
    apply_defaults(DEPLOYMENT, manifest)
    replicas = manifest["spec"]["replicas"]
    owned = new_replica_set(manifest)
    owned["metadata"].update(uid=str(uuid.uuid4()), creationTimestamp=times.format_time(born))
    pods = [new_pod(manifest, owned, f"{meta['name']}-{at}", born) for at in range(replicas)]
    for one in pods:
        one["status"] = running_status(one, born)
    manifest["status"] = deployment_status(manifest, pods, born)
    yield manifest
    yield with_pods(owned, pods, replicas)
    yield from pods
