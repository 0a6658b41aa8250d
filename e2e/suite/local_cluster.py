"""
Reporters on a local control plane: processes, each with a Pod object that represents it.

When a test deletes such a Pod, its process is killed and another one is started, as a Deployment
would do.
"""

import contextlib
import itertools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from e2e.controlplane import ControlPlane, Json, faults, reporter_rights
from e2e.suite.cluster import DEDICATED_LABEL
from e2e.suite.reporters import NAME
from e2e.support import observer
from e2e.support.address import find_routable_address
from e2e.support.events import SOURCE
from e2e.support.production_stack import components
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from tests.support.ports import free_port


HEARTBEAT = 10
"""Seconds between two writes of an Event."""

QUIET = 13
"""Seconds; a heartbeat comes within them."""

ELECTION = (
    "--lease-duration-seconds=20",
    "--renew-deadline-seconds=15",
    "--retry-period-seconds=0.5",
)
"""
So patient that a busy machine makes no other leader, and one that is lost is replaced in time.
"""

SOURCES = ("jobs",)
LOOPBACK = "127.0.0.1"
_NUMBERS = itertools.count(1)
_SYSTEM = "/api/v1/namespaces/kube-system"


@contextlib.contextmanager
def reporters(
    plane: ControlPlane, *, replicas: int = 2, off: str = "", heartbeat: int = HEARTBEAT
) -> Iterator[None]:
    """
    Run reporters in a cluster with an installed stack, and remove them at the end.

    *off* is a reason that they do not evaluate; *heartbeat* is in seconds.
    """
    plane.client.patch(_SYSTEM, _labelled("true"))
    reporter_rights.install(plane.client, NAMESPACE, SOURCES)
    controller = _ReplicaController(plane, flags(plane, off, heartbeat))
    try:
        controller.start(replicas)
        yield
    finally:
        controller.stop()
        plane.client.patch(_SYSTEM, _labelled(None))


def flags(plane: ControlPlane, off: str = "", heartbeat: int = HEARTBEAT) -> tuple[str, ...]:
    """
    Return the flags of the reporters: starting pods keep their long holds, all else is short.
    """
    return (
        *observer.short_hold_flags(plane, off=off),
        *ELECTION,
        f"--sources={','.join(SOURCES)}",
        "--startup-grace-seconds=2",
        f"--heartbeat-seconds={heartbeat}",
        f"--node-provisioner-name={components.NODE_PROVISIONER.name}",
        f"--node-provisioner-namespace={components.NODE_PROVISIONER.namespace}",
        "--scrape-interval-seconds=1",
        "--weight-download-window-seconds=4",
        f"--weight-download-metric-port={free_port()}",
    )


@dataclass
class _Replica:
    process: ReporterProcess
    path: str


class _ReplicaController:
    """
    Starts reporters and replaces those whose Pod is deleted, as Deployment and kubelet would.
    """

    def __init__(self, plane: ControlPlane, flags: tuple[str, ...]) -> None:
        self._plane, self._flags = plane, flags
        self._replicas: list[_Replica] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, replicas: int) -> None:
        for number in range(replicas):
            self._replicas.append(self._new(follows=number > 0))
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        for replica in self._replicas:
            with contextlib.ExitStack() as stack:
                stack.callback(self._delete_pod, replica.path)
                stack.callback(replica.process.stop)

    def _run(self) -> None:
        while not self._stopped.wait(0.3):
            for number, replica in enumerate(self._replicas):
                if not self._plane.client.exists(replica.path):
                    replica.process.kill()
                    self._replicas[number] = self._new(follows=True)

    def _new(self, *, follows: bool) -> _Replica:
        port, name = free_port(), f"status-reporter-{os.getpid()}-{next(_NUMBERS)}"
        address = f"0.0.0.0:{port}"
        open_to_proxies = (
            f"--health-probe-bind-address={address}",
            f"--status-bind-address={address}",
        )
        arguments = (*self._flags, *open_to_proxies)
        process = ReporterProcess(self._plane, *arguments, name=name, grant=False, follows=follows)
        process.health_port = port
        try:
            process.start(leading=not follows)
        except BaseException:
            if process.running:
                process.kill()
            raise
        pod = _pod(name, port, arguments)
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
    host = find_routable_address() or LOOPBACK
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    addresses = {"podIP": host, "podIPs": [{"ip": host}]}
    return {**addresses, "phase": "Running", "conditions": [ready]}


def _labelled(value: str | None) -> Json:
    return {"metadata": {"labels": {DEDICATED_LABEL: value}}}
