"""Model pods that load their model or are Ready, each at an address of its own in 127.0.0.0/8."""

import ipaddress
import uuid
from collections.abc import Iterator

from e2e.bench.load import bulk_change
from e2e.bench.load.teams import MODELS, model, team
from e2e.controlplane import ControlPlane, Json
from reporter.scrape.schedule import offset


ANSWERING = ipaddress.IPv4Network("127.16.0.0/12")
HANGING = ipaddress.IPv4Network("127.64.0.0/12")
SERVING = ipaddress.IPv4Network("127.48.0.0/12")
"""Addresses that respond with a made page of vLLM with two engines, larger than the recorded ones."""

READY = ipaddress.IPv4Network("127.80.0.0/12")
"""Addresses that respond with a recorded page of vLLM."""

LATE = ipaddress.IPv4Network("127.32.0.0/16")
"""Addresses that respond too, of pods created late."""

AT_ONCE = 0.01
"""Share of an interval in which pods are scraped that are scraped at once."""


INDEX_LABEL = "apps.kubernetes.io/pod-index"
"""A label of a model's pods, which those of endpoint pickers lack."""


class LoadingPods:
    """Loading pods, evenly spread over *inference_sets*."""

    def __init__(self, plane: ControlPlane, inference_sets: int) -> None:
        self._etcd, self._sets = plane.etcd_port, inference_sets
        self._keys: list[str] = []

    def write(self, network: ipaddress.IPv4Network, many: int, *, together: bool = False) -> None:
        """
        Create *many* pods; with *together* all are scraped at the same moment of the interval.
        """
        pods = [
            _pod(
                str(network[number + 1]),
                number % self._sets,
                _uid(together=together),
            )
            for number in range(many)
        ]
        bulk_change.put_all(self._etcd, [bulk_change.body(_key(pod), pod) for pod in pods])
        self._keys += map(_key, pods)

    def remove_all(self) -> None:
        bulk_change.delete_all(self._etcd, self._keys)
        self._keys.clear()


def _uid(*, together: bool) -> str:
    return next(uid for uid in _uids() if not together or offset(uid) < AT_ONCE)


def _uids() -> Iterator[str]:
    while True:
        yield str(uuid.uuid4())


def _key(pod: Json) -> str:
    return f"/registry/pods/{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def address_model_pods(plane: ControlPlane, network: ipaddress.IPv4Network) -> None:
    """
    Give each pod of a model an address.

    These pods are Ready. With one that has none its InferenceSet would be Unknown.
    """
    pods = [
        each
        for each in plane.client.list("/api/v1/pods")
        if INDEX_LABEL in each["metadata"].get("labels", {})
    ]
    for number, pod in enumerate(pods):
        address = str(network[number + 1])
        pod |= {"apiVersion": "v1", "kind": "Pod"}
        pod["status"] |= {"podIP": address, "podIPs": [{"ip": address}]}
    bodies = [bulk_change.body(_key(pod), pod) for pod in pods]
    bulk_change.put_all(plane.etcd_port, bodies)


def _pod(address: str, index: int, uid: str) -> Json:
    of_team, number = divmod(index, MODELS)
    started = "2026-01-01T00:00:00Z"
    container = {"name": "model", "image": "example.invalid/never-run:1"}
    running = {**container, "imageID": "", "ready": False, "restartCount": 0}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"loading-{address.replace('.', '-')}",
            "namespace": team(of_team),
            "uid": uid,
            "creationTimestamp": started,
            "labels": {
                "inferenceset.kaito.sh/created-by": model(of_team, number),
                INDEX_LABEL: "0",
            },
        },
        "spec": {"containers": [container], "nodeName": "node-0"},
        "status": {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{**running, "state": {"running": {"startedAt": started}}}],
        },
    }
