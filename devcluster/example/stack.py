"""The healthy example stack, an hour old: namespaces, control plane and the model of one team."""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

from devcluster.controllers.workloads import (
    NODE,
    deployment_status,
    new_pod,
    new_replica_set,
    running_status,
    with_pods,
)
from devcluster.example import team
from devcluster.example.crds import crds
from devcluster.schema import times
from devcluster.schema.api_errors import Json
from devcluster.schema.builtin_kinds import DEPLOYMENT
from devcluster.schema.defaults import apply_defaults
from reporter.stories.healthy_stack import COMPONENTS, NAMESPACES, ExampleComponent


STACK_AGE = timedelta(hours=1)


def manifests(now: datetime) -> Iterator[Json]:
    """Yield all manifests in an order in which they can be stored."""
    created = now - STACK_AGE
    for manifest in _base_objects(created):
        manifest["metadata"].setdefault("creationTimestamp", times.format_time(created))
        yield manifest
    for component in COMPONENTS:
        yield from with_running_pods(component_deployment(component), created)
    for manifest in team.deployments():
        yield from with_running_pods(manifest, created)
    for manifest in team.manifests(created):
        manifest["metadata"].setdefault("creationTimestamp", times.format_time(created))
        yield manifest


def _base_objects(created: datetime) -> Iterator[Json]:
    yield from crds()
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield team.namespace()
    condition = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": times.format_time(created),
    }
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}},
        "status": {"conditions": [condition]},
    }


def component_deployment(component: ExampleComponent) -> Json:
    return team.deployment(
        component.namespace, component.name, component.labels, replicas=component.replicas
    )


def with_running_pods(manifest: Json, created: datetime) -> Iterator[Json]:
    """Yield a Deployment, its ReplicaSet and its pods, all ready since *created*."""
    meta = manifest["metadata"]
    meta.update(uid=str(uuid.uuid4()), generation=1, creationTimestamp=times.format_time(created))
    apply_defaults(DEPLOYMENT, manifest)
    replicas = manifest["spec"]["replicas"]
    replica_set = new_replica_set(manifest)
    replica_set["metadata"].update(
        uid=str(uuid.uuid4()), creationTimestamp=times.format_time(created)
    )
    pods = [
        new_pod(manifest, replica_set, f"{meta['name']}-{index}", created)
        for index in range(replicas)
    ]
    for one in pods:
        one["status"] = running_status(one, created)
    manifest["status"] = deployment_status(manifest, pods, created)
    yield manifest
    yield with_pods(replica_set, pods, replicas)
    yield from pods
