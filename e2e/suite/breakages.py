"""Breakages of a stack, as context managers that restore it at the end."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from e2e.controlplane import Json, crds, faults, until
from e2e.controlplane.client import STRATEGIC
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.model import WORKSPACE, SuiteModel
from e2e.support.production_stack import components, statuses
from e2e.support.production_stack.components import StackComponent
from e2e.support.production_stack.kaito_controller import READY_REASONS, nodes_missing_reasons


# ---------------------------------------------------------------- of the cluster


@contextlib.contextmanager
def scaled_to_zero(cluster: ClusterUnderTest, component: StackComponent) -> Iterator[None]:
    replicas = components.deployment(cluster.client, component)["spec"]["replicas"]
    components.scale(cluster.client, component, 0)
    try:
        yield
    finally:
        components.scale(cluster.client, component, replicas)
        _until_ready(cluster, component)


def _until_ready(cluster: ClusterUnderTest, component: StackComponent) -> None:
    """Wait until a component is Ready, with the labels of its own selector."""
    deployment = components.deployment(cluster.client, component)
    labels = deployment["spec"]["selector"].get("matchLabels", component.labels)
    selected = StackComponent(component.namespace, component.name, labels)
    components.until_ready(cluster.client, selected, within=300)


@contextlib.contextmanager
def without_crd(cluster: ClusterUnderTest, name: str) -> Iterator[None]:
    """Delete a CRD, and all its objects with it, and create the CRD again."""
    crd = cluster.client.get(f"{crds.PATH}/{name}")
    manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "annotations": crd["metadata"].get("annotations", {}),
            "labels": crd["metadata"].get("labels", {}),
        },
        "spec": crd["spec"],
    }
    crds.remove(cluster.client, name)
    try:
        yield
    finally:
        crds.install(cluster.client, [manifest])


# ---------------------------------------------------------------- of a team


@contextlib.contextmanager
def deleted(model: SuiteModel, kind: str, name: str) -> Iterator[None]:
    client = model.cluster.client
    client.delete(model.path(kind, name))
    try:
        yield
    finally:
        manifest = model.manifest(kind, name)
        client.create(client.collection(manifest), manifest)


@contextlib.contextmanager
def with_spec(model: SuiteModel, kind: str, **spec: Any) -> Iterator[None]:
    """
    Change the spec of an object. Its status stays, as if its controller had not seen the change.
    """
    client, manifest = model.cluster.client, model.manifest(kind)
    client.patch(client.path(manifest), {"spec": spec})
    try:
        yield
    finally:
        before = {key: manifest["spec"].get(key) for key in spec}
        client.patch(client.path(manifest), {"spec": before})
        statuses.write_status(client, manifest, model.status(kind))


@contextlib.contextmanager
def with_false_condition(model: SuiteModel, kind: str, condition: str, why: str) -> Iterator[None]:
    """Set a condition to False, as its controller would; *why* is `reason: message`."""
    client, manifest = model.cluster.client, model.manifest(kind)
    statuses.write_status(client, manifest, _false_condition(model.status(kind), condition, why))
    try:
        yield
    finally:
        statuses.write_status(client, manifest, model.status(kind))


def _false_condition(status: Json, condition: str, why: str) -> Json:
    changed = copy.deepcopy(status)
    reason, _, message = why.partition(": ")
    for owner in (changed, *changed.get("parents", ())):
        for found in owner.get("conditions", ()):
            if found["type"] == condition:
                found |= {"status": "False", "reason": reason, "message": message}
                found["lastTransitionTime"] = statuses.timestamp()
    return changed


@contextlib.contextmanager
def with_annotations(model: SuiteModel, **annotations: str) -> Iterator[None]:
    """Annotate the InferenceSet for the autoscaler."""
    model.kaito.annotate(**annotations)
    try:
        yield
    finally:
        model.kaito.annotate(**dict.fromkeys(annotations))


@contextlib.contextmanager
def with_node_refused(model: SuiteModel, why: str) -> Iterator[None]:
    """Let node provisioning fail; *why* is `reason: message` of the provisioner."""
    model.kaito.set_workspace_conditions(WORKSPACE, nodes_missing_reasons(why))
    try:
        yield
    finally:
        model.kaito.set_workspace_conditions(WORKSPACE, READY_REASONS)


@contextlib.contextmanager
def under_pressure(model: SuiteModel) -> Iterator[None]:
    """Put the model's node under disk pressure, as KAITO reports it."""
    pod = model.cluster.client.get(model.path("Pod"))
    text = f"worker node(s) under resource pressure: {pod['spec']['nodeName']} (DiskPressure)"
    model.kaito.set_workspace_conditions(
        WORKSPACE, {"NodesReady": f"NodePluginsNotReady: waiting; warning: {text}"}
    )
    try:
        yield
    finally:
        model.kaito.set_workspace_conditions(WORKSPACE, READY_REASONS)


@contextlib.contextmanager
def with_broken_image(model: SuiteModel) -> Iterator[None]:
    """Give the model's pod an image that cannot be pulled."""
    client, path = model.cluster.client, model.path("Pod")
    pod = {"apiVersion": "v1", "kind": "Pod", **client.get(path)}
    container = pod["spec"]["containers"][0]
    if model.cluster.has_no_kubelets:
        faults.set_pod_fault(client, pod, faults.IMAGE_PULL)
    else:
        _set_image(model, container["name"], components.IMAGE)
    try:
        yield
    finally:
        faults.clear_pod_fault(client, pod)
        _set_image(model, container["name"], container["image"])
        until(model.is_serving, within=180, what=f"{path} is Ready")


def _set_image(model: SuiteModel, container: str, image: str) -> None:
    spec = {"containers": [{"name": container, "image": image}]}
    model.cluster.client.patch(model.path("Pod"), {"spec": spec}, STRATEGIC)


@contextlib.contextmanager
def with_ingress(model: SuiteModel, namespace: str) -> Iterator[None]:
    """Apply the harness's network policy with a *namespace* that does not exist."""
    client = model.cluster.client
    policy = _policy(model, namespace)
    client.apply(policy)
    try:
        yield
    finally:
        client.apply(_policy(model))


def _policy(model: SuiteModel, *more_namespaces: str) -> Json:
    scaler = model.cluster.component(components.KEDA_KAITO_SCALER).namespace
    key = "k8s:io.kubernetes.pod.namespace"
    sources = [{"matchLabels": {key: name}} for name in (scaler, *more_namespaces)]
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {
            "name": "inference-pods-ingress",
            "namespace": model.namespace,
            "labels": {"kaito.sh/owned-by": "modelharness"},
        },
        "spec": {"endpointSelector": {}, "ingress": [{"fromEndpoints": [{}, *sources]}]},
    }
