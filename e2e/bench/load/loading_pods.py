"""Model pods that load their model or are Ready; each has its own address in 127.0.0.0/8."""

import ipaddress
import uuid
from collections.abc import Iterator

from e2e.bench.load import bulk_change
from e2e.bench.load.teams import MODELS, model, team
from e2e.controlplane import ControlPlane, Json
from reporter.scrape.schedule import offset


ANSWERING = ipaddress.ip_network("127.16.0.0/12")
HANGING = ipaddress.ip_network("127.64.0.0/12")
SERVING = ipaddress.ip_network("127.48.0.0/12")
"""Addresses that respond with a made page of vLLM with two engines, larger than the recorded ones."""

READY = ipaddress.ip_network("127.80.0.0/12")
"""Addresses of Ready pods that respond with a recorded page of vLLM."""

READY_MADE = ipaddress.ip_network("127.96.0.0/12")
"""Addresses of Ready pods that respond with the made page."""

LATE = ipaddress.ip_network("127.32.0.0/16")
"""Addresses that respond too, of pods created late."""

AT_ONCE = 0.01
"""Share of an interval in which pods are scraped that are scraped at once."""


class LoadingPods:
    """Loading and Ready pods, evenly spread over *inference_sets*."""

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
                ready=network in {READY, READY_MADE},
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


def _pod(address: str, index: int, uid: str, *, ready: bool) -> Json:
    of_team, number = divmod(index, MODELS)
    started = "2026-01-01T00:00:00Z"
    container = {"name": "model", "image": "example.invalid/never-run:1"}
    running = {**container, "imageID": "", "ready": ready, "restartCount": 0}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{'ready' if ready else 'loading'}-{address.replace('.', '-')}",
            "namespace": team(of_team),
            "uid": uid,
            "creationTimestamp": started,
            "labels": {
                "inferenceset.kaito.sh/created-by": model(of_team, number),
                "apps.kubernetes.io/pod-index": "0",
            },
        },
        "spec": {"containers": [container], "nodeName": "node-0"},
        "status": {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{**running, "state": {"running": {"startedAt": started}}}],
        },
    }
