"""The image, run as a kubelet runs it, on the real control plane."""

import http.client
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.image import IMAGE
from e2e.image.container import SECRETS, RuncContainer
from e2e.image.storage import Storage
from e2e.support import events
from e2e.support.job_sidecar import ADAPTER, SidecarJob
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import namespace_manifest
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from tests.support.ports import free_port


MEBIBYTE = 2**20
MAX_MEMORY = 128 * MEBIBYTE
MAX_RATIO = 1.25
"""
The limit of its memory, divided by that of the program from its sources, which has another Python.
"""

FLAGS = (*SHORT_FLAGS, NO_PAGES)
SLOW = 60

pytestmark = [pytest.mark.slow, pytest.mark.controlplane]


@dataclass
class RunningContainer:
    container: RuncContainer
    health: int
    metrics: int
    seconds: float
    """Seconds from the start until it is ready."""

    def page(self, port: int, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SLOW)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def ready(self) -> bool:
        if self.container.has_ended():
            raise AssertionError(f"the container has ended:\n{self.container.output()}")
        try:
            return self.page(self.health, "/readyz").startswith("ok\n")
        except OSError:
            return False


@pytest.fixture
def running(stack: ControlPlane, storage: Storage, folder: Path) -> Iterator[RunningContainer]:
    reporter_rights.install(stack.client, NAMESPACE)
    token = stack.service_account_token(NAMESPACE, reporter_rights.NAME)
    account = _account(folder, token, stack, NAMESPACE)
    container = RuncContainer(storage, IMAGE, folder, {SECRETS: account})
    metrics, health = free_port(), free_port()
    env = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(stack.client.port),
        "POD_NAME": "reporter-in-a-container",
        "POD_NAMESPACE": NAMESPACE,
    }
    addresses = (
        f"--metrics-bind-address=127.0.0.1:{metrics}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
    )
    with restore.healthy_stack(stack):
        begun = time.monotonic()
        container.start("run", *addresses, *FLAGS, env=env)
        try:
            started = RunningContainer(container, health, metrics, 0)
            until(started.ready, within=SLOW, what="the container is ready")
            started.seconds = time.monotonic() - begun
            yield started
        finally:
            container.remove()


def test_container_writes_an_event_and_stops_on_sigterm(
    control_plane: ControlPlane, running: RunningContainer
) -> None:
    components.scale(control_plane.client, components.BODY_BASED_ROUTER, 0)
    event = events.wait_for(control_plane.client, "clusterBBRNotReady", within=SLOW)
    assert event.raw["reportingInstance"] == "reporter-in-a-container"
    assert running.container.stop() == 0


def test_container_needs_no_more_memory_than_the_sources(
    control_plane: ControlPlane, running: RunningContainer
) -> None:
    in_container = _memory(running.page(running.metrics, "/metrics"))
    begun = time.monotonic()
    with ReporterProcess(control_plane, *FLAGS, name="from-sources", follows=True) as sources:
        seconds = time.monotonic() - begun
        from_sources = _memory(sources.metrics())
    print(f"image:   ready after {running.seconds:.2f} s, {in_container / MEBIBYTE:.0f} MiB")
    print(f"sources: ready after {seconds:.2f} s, {from_sources / MEBIBYTE:.0f} MiB")
    assert in_container < min(MAX_MEMORY, MAX_RATIO * from_sources)


def test_container_has_no_privileges_on_its_machine(running: RunningContainer) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{running.container.pid()}/status").read_text().splitlines()
        if ":\t" in line
    )
    assert status["Uid"].split() == ["65532"] * 4
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"


def test_container_without_arguments_writes_the_condition_of_its_job(
    control_plane: ControlPlane, storage: Storage, folder: Path
) -> None:
    """The sidecar as its pod has it, with the files of its service account at their fixed path."""
    namespace = f"team-{folder.name}".replace("_", "-")[:60]
    control_plane.client.create("/api/v1/namespaces", namespace_manifest(namespace))
    with SidecarJob(control_plane, namespace) as job:
        job.write_status()
        job.write_result('{"status":"success","reason":"AllChecksPassed","message":"well"}')
        account = _account(folder, (job.folder / "token").read_text(), control_plane, namespace)
        results = shutil.copytree(job.result.parent, folder / "results")
        container = RuncContainer(storage, IMAGE, folder, {SECRETS: account, "/results": results})
        container.start(
            env={
                "KUBERNETES_SERVICE_HOST": "127.0.0.1",
                "KUBERNETES_SERVICE_PORT": str(control_plane.client.port),
                "JOB_NAME": job.name,
                "JOB_NAMESPACE": namespace,
                "POD_NAME": job.pod,
                "RESULTS_PATH": "/results/adapter-result.json",
                "ADAPTER_CONTAINER_NAME": ADAPTER,
            }
        )
        try:
            assert container.wait() == 0, container.output()
        finally:
            container.remove()
        assert job.await_condition("Available")["reason"] == "AllChecksPassed"


def _account(folder: Path, token: str, plane: ControlPlane, namespace: str) -> Path:
    """Return a folder with the files that the kubelet mounts for a service account."""
    account = folder / "account"
    account.mkdir(0o755)
    (account / "token").write_text(token)
    (account / "ca.crt").write_bytes(plane.client.ca_file.read_bytes())
    (account / "namespace").write_text(namespace)
    return account


def _memory(page: str) -> float:
    """Return the resident memory in bytes, from a metrics page."""
    name = "process_resident_memory_bytes "
    lines = page.splitlines()
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))
