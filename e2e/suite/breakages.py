"""
What operators do to a stack by mistake. Each ends with the stack as it was before.
"""

import contextlib
from collections.abc import Iterator

from e2e import stack
from e2e.kaito import DONE, without_nodes
from e2e.stack import Component
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model


@contextlib.contextmanager
def scaled_to_zero(cluster: Cluster, component: Component) -> Iterator[None]:
    wanted = stack.deployment(cluster.client, component)["spec"]["replicas"]
    stack.scale(cluster.client, component, 0)
    try:
        yield
    finally:
        stack.scale(cluster.client, component, wanted)
        until_ready(cluster, component)


def until_ready(cluster: Cluster, component: Component) -> None:
    """
    With the labels by which its own selector knows its pods.
    """
    found = stack.deployment(cluster.client, component)
    labels = found["spec"]["selector"].get("matchLabels", component.labels)
    known = Component(component.namespace, component.name, labels)
    stack.until_ready(cluster.client, known, within=300)


@contextlib.contextmanager
def deleted(model: Model, kind: str, name: str) -> Iterator[None]:
    client = model.cluster.client
    client.delete(model.path(kind, name))
    try:
        yield
    finally:
        manifest = model.manifest(kind, name)
        client.create(client.collection(manifest), manifest)


@contextlib.contextmanager
def annotated(model: Model, **annotations: str) -> Iterator[None]:
    """
    The InferenceSet, for the scaler.
    """
    model.kaito.annotate(**annotations)
    try:
        yield
    finally:
        model.kaito.annotate(**dict.fromkeys(annotations))


@contextlib.contextmanager
def refused(model: Model, workspace: str, why: str) -> Iterator[None]:
    """
    The node that KAITO asks for does not come. *why*: reason and message of the provisioner.
    """
    model.kaito.say(workspace, without_nodes(why))
    try:
        yield
    finally:
        model.kaito.say(workspace, DONE)
