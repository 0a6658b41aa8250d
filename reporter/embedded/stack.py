"""
The healthy example stack: its namespaces, its control plane and one team's model, an hour old.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from reporter.embedded import example_team, times
from reporter.embedded.builtin import DEPLOYMENT
from reporter.embedded.defaults import fill
from reporter.embedded.example_crds import crds
from reporter.embedded.statuses import Json
from reporter.embedded.workloads import (
    NODE,
    deployment_status,
    pod,
    replica_set,
    running_status,
    with_pods,
)


AGE = timedelta(hours=1)
NAMESPACES = ("istio-system", "kaito-system", "keda", "llm-gateway-auth")


@dataclass(frozen=True, slots=True)
class Component:
    """
    One Deployment of the control plane.
    """

    namespace: str
    name: str
    replicas: int
    labels: tuple[tuple[str, str], ...]


_APP, _NAME, _PART = "app", "app.kubernetes.io/name", "app.kubernetes.io/component"
COMPONENTS = (
    Component("istio-system", "istiod", 1, ((_APP, "istiod"), ("istio.io/rev", "default"))),
    Component("kaito-system", "body-based-router", 2, ((_APP, "body-based-router"),)),
    Component("kaito-system", "kaito-workspace", 1, ((_NAME, "workspace"),)),
    Component("keda", "keda-operator", 1, ((_APP, "keda-operator"), (_NAME, "keda-operator"))),
    Component(
        "keda", "keda-operator-metrics-apiserver", 1, ((_APP, "keda-operator-metrics-apiserver"),)
    ),
    Component("keda", "keda-admission-webhooks", 1, ((_APP, "keda-admission-webhooks"),)),
    Component("keda", "keda-kaito-scaler", 1, ((_NAME, "keda-kaito-scaler"),)),
    Component("llm-gateway-auth", "apikey-authz", 3, ((_PART, "apikey-authz"),)),
    Component("llm-gateway-auth", "apikey-operator", 2, ((_PART, "apikey-operator"),)),
)


def manifests(now: datetime) -> Iterator[Json]:
    """
    Everything, in an order in which it can be stored.
    """
    born = now - AGE
    for manifest in _without_status(born):
        manifest["metadata"].setdefault("creationTimestamp", times.seconds(born))
        yield manifest
    for component in COMPONENTS:
        yield from running(deployment(component), born)
    for manifest in example_team.deployments():
        yield from running(manifest, born)
    for manifest in example_team.manifests(born):
        manifest["metadata"].setdefault("creationTimestamp", times.seconds(born))
        yield manifest


def _without_status(born: datetime) -> Iterator[Json]:
    yield from crds()
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield example_team.namespace()
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": times.seconds(born)}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}},
        "status": {"conditions": [condition]},
    }


def deployment(component: Component) -> Json:
    labels = dict(component.labels)
    return example_team.deployment(
        component.namespace, component.name, labels, replicas=component.replicas
    )


def running(manifest: Json, born: datetime) -> Iterator[Json]:
    """
    A Deployment, its ReplicaSet and its pods, all ready since *born*.
    """
    meta = manifest["metadata"]
    meta.update(uid=str(uuid.uuid4()), generation=1, creationTimestamp=times.seconds(born))
    fill(DEPLOYMENT, manifest)
    replicas = manifest["spec"]["replicas"]
    owned = replica_set(manifest)
    owned["metadata"].update(uid=str(uuid.uuid4()), creationTimestamp=times.seconds(born))
    pods = [pod(manifest, owned, f"{meta['name']}-{at}", born) for at in range(replicas)]
    for one in pods:
        one["status"] = running_status(one, born)
    manifest["status"] = deployment_status(manifest, pods, born)
    yield manifest
    yield with_pods(owned, pods, replicas)
    yield from pods
