"""
A local cluster with two reporters in it. They are processes; pods stand for them, so that nobody
has to know: whoever deletes such a pod kills its process, and another comes in its place.
"""

import contextlib
import itertools
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from e2e.controlplane import ControlPlane, Json, faults, reporter_rights
from e2e.controlplane.processes import free_port
from e2e.suite.cluster import DEDICATED_LABEL
from e2e.suite.reporters import NAME
from e2e.support import observer
from e2e.support.events import SOURCE
from e2e.support.production_stack import components
from e2e.support.reporter_process import NAMESPACE, ReporterProcess


HEARTBEAT = 10
QUIET = 13
"""
Seconds after which such a heartbeat would have come.
"""

_NUMBERS = itertools.count(1)
_SYSTEM = "/api/v1/namespaces/kube-system"


@contextlib.contextmanager
def reporters(
    plane: ControlPlane, *, replicas: int = 2, off: str = "", heartbeat: int = HEARTBEAT
) -> Iterator[None]:
    """
    With the stack installed before. All traces of them go at the end. *off*: a reason that they
    do not judge. *heartbeat* in seconds.
    """
    plane.client.patch(_SYSTEM, _labelled("true"))
    reporter_rights.install(plane.client, NAMESPACE)
    keeper = _ReplicaController(plane, flags(plane, off, heartbeat))
    try:
        keeper.start(replicas)
        yield
    finally:
        keeper.stop()
        plane.client.patch(_SYSTEM, _labelled(None))


def flags(plane: ControlPlane, off: str = "", heartbeat: int = HEARTBEAT) -> tuple[str, ...]:
    """
    What starts has minutes, all else is told after a moment.
    """
    return (
        *observer.short_hold_flags(plane, off=off),
        "--startup-grace-seconds=2",
        f"--heartbeat-seconds={heartbeat}",
        f"--node-provisioner-name={components.NODE_PROVISIONER.name}",
        f"--node-provisioner-namespace={components.NODE_PROVISIONER.namespace}",
        "--scrape-interval-seconds=1",
        "--weight-download-window-seconds=4",
        f"--weight-download-metric-port={free_port()}",
    )


def address() -> str:
    """
    Of this machine, to which an API server lets a request through: loopback only where there is
    no other.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
        except OSError:
            return "127.0.0.1"
        found: str = probe.getsockname()[0]
    return found


@dataclass
class _Replica:
    process: ReporterProcess
    path: str


class _ReplicaController:
    """
    What Deployment and kubelet are to real pods.
    """

    def __init__(self, plane: ControlPlane, flags: tuple[str, ...]) -> None:
        self._plane, self._flags = plane, flags
        self._replicas: list[_Replica] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, replicas: int) -> None:
        for number in range(replicas):
            self._replicas.append(self._new(follows=number > 0))
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        for each in self._replicas:
            with contextlib.ExitStack() as after:
                after.callback(self._delete_pod, each.path)
                after.callback(each.process.stop)

    def _run(self) -> None:
        while not self._over.wait(0.3):
            for number, each in enumerate(self._replicas):
                if not self._plane.client.exists(each.path):
                    each.process.kill()
                    self._replicas[number] = self._new(follows=True)

    def _new(self, *, follows: bool) -> _Replica:
        port, name = free_port(), f"status-reporter-{os.getpid()}-{next(_NUMBERS)}"
        given = (*self._flags, f"--health-probe-bind-address=0.0.0.0:{port}")
        process = ReporterProcess(self._plane, *given, name=name, grant=False, follows=follows)
        process.health_port = port
        try:
            process.start(leading=not follows)
        except BaseException:
            if process.running:
                process.kill()
            raise
        pod = _pod(name, port, self._flags)
        self._plane.client.create(self._plane.client.collection(pod), pod)
        faults.write_status(self._plane.client, pod, _running())
        return _Replica(process, self._plane.client.path(pod))

    def _delete_pod(self, path: str) -> None:
        if self._plane.client.exists(path):
            self._plane.client.delete(f"{path}?gracePeriodSeconds=0")


def _pod(name: str, port: int, args: tuple[str, ...]) -> Json:
    container = {
        "name": "reporter",
        "image": components.IMAGE,
        "args": list(args),
        "ports": [{"name": "health", "containerPort": port}],
    }
    meta = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {NAME: SOURCE},
        "annotations": {"fault.e2e/hold": "true"},
    }
    spec = {
        "nodeName": "node-0",
        "serviceAccountName": reporter_rights.NAME,
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _running() -> Json:
    where = address()
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    addresses = {"podIP": where, "podIPs": [{"ip": where}]}
    return {**addresses, "phase": "Running", "conditions": [ready]}


def _labelled(value: str | None) -> Json:
    return {"metadata": {"labels": {DEDICATED_LABEL: value}}}
