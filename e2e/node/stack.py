"""The control plane of a production stack, as Deployments of real containers that only answer their probes."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from e2e.controlplane import Client, Json, until
from e2e.controlplane.client import STRATEGIC
from e2e.node.images import WORKLOAD
from e2e.suite.reporters import ENDED
from e2e.support.production_stack import components
from e2e.support.production_stack.components import StackComponent


READY_WITHIN = 300
_NAMESPACES = {"kaito-workspace": "kaito-workspace"}
"""Namespaces by component, where the example stack has another than the default values of the chart."""

COMPONENTS = tuple(
    msgspec.structs.replace(each, namespace=_NAMESPACES.get(each.name, each.namespace))
    for each in components.COMPONENTS
)


def component(name: str) -> StackComponent:
    return next(each for each in COMPONENTS if each.name == name)


def install(client: Client) -> None:
    """Install the stack. Returns when every Deployment is Ready."""
    for namespace in sorted({each.namespace for each in COMPONENTS}):
        client.apply(components.namespace_manifest(namespace))
    for each in COMPONENTS:
        client.apply(manifest(each))
    for each in COMPONENTS:
        until_ready(client, each)


def until_ready(client: Client, each: StackComponent) -> None:
    """
    Wait until all replicas are of the newest version and Ready. Evicted pods stay beside them, as for users.
    """
    what = f"Deployment {each.namespace}/{each.name} is Ready"
    until(partial(_is_ready, client, each), within=READY_WITHIN, what=what)


def _is_ready(client: Client, each: StackComponent) -> bool:
    found = components.deployment(client, each)
    pods = [pod for pod in components.pods(client, each) if pod["status"]["phase"] not in ENDED]
    return components.is_ready(found) and len(pods) == found["spec"]["replicas"]


def manifest(each: StackComponent) -> Json:
    found = components.deployment_manifest(each)
    probe = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 2}
    container = {"name": each.name, "image": WORKLOAD, "args": ["serve"], "readinessProbe": probe}
    spec = found["spec"]["template"]["spec"]
    spec |= {"containers": [container], "terminationGracePeriodSeconds": 5}
    return found


def repair(client: Client, each: StackComponent) -> None:
    """Give a Deployment back what it was installed with. Returns when it is Ready."""
    client.put(components.path(each), manifest(each))
    until_ready(client, each)


@dataclass(frozen=True)
class Fault:
    """
    A change of a Deployment after which its pods fail.

    *container* and *pod*: fields of theirs. *stuck_after*: seconds after which its rollout is stuck, in which
    those of before stay; without, they end first.
    """

    container: dict[str, Any] = field(default_factory=dict)
    pod: dict[str, Any] = field(default_factory=dict)
    stuck_after: int | None = None

    def cause(self, client: Client, each: StackComponent) -> None:
        restarted = {"metadata": {"annotations": {"e2e/fault": "true"}}}
        containers = [{"name": each.name, **self.container}]
        spec: Json = {"template": {**restarted, "spec": {**self.pod, "containers": containers}}}
        if self.stuck_after is None:
            spec["strategy"] = {"type": "Recreate", "rollingUpdate": None}
        else:
            spec["progressDeadlineSeconds"] = self.stuck_after
        client.patch(components.path(each), {"spec": spec}, STRATEGIC)


ABSENT_IMAGE = "registry.example/e2e/absent:1"
NO_IMAGE = Fault({"image": ABSENT_IMAGE})
"""A fault whose end is announced as soon as it has settled; that of a crash is after ten minutes."""
