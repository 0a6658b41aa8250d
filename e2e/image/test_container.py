"""
The image, built with make and run as a kubelet runs it, on the real control plane.
"""

import http.client
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.image import base
from e2e.image.container import RuncContainer
from e2e.image.storage import Storage
from e2e.support import events
from e2e.support.production_stack import components, restore
from e2e.support.reporter_process import NAMESPACE
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.ports import free_port


TOOLS = ("buildah", "runc", "debootstrap")
BASE, IMAGE = "localhost/base:test", "localhost/status-reporter:test"
ABSENT = ("gcc", "cc", "pip", "pip3")
MEBIBYTE = 2**20

_missing = [tool for tool in TOOLS if shutil.which(tool) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.controlplane,
    pytest.mark.skipif(
        bool(_missing),
        reason=f"the image was NOT built or run: {', '.join(_missing)} missing (Debian packages)",
    ),
    pytest.mark.skipif(
        os.geteuid() != 0, reason="the image was NOT built or run: this needs root"
    ),
]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """
    An image store with the built image.
    """
    storage = Storage(tmp_path_factory.mktemp("storage"))
    storage.import_archive(base.archive(), BASE)
    flags = f"--isolation=chroot --build-arg=BASE={BASE}"
    process = subprocess.run(
        ["make", "image", f"IMAGE={IMAGE}", "CONTAINER_TOOL=buildah", f"IMAGE_FLAGS={flags}"],
        env=storage.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
    print(
        f"image {storage.size(IMAGE) / 1e6:.0f} MB, of which the base {storage.size(BASE) / 1e6:.0f}"
    )
    return storage


def test_image_has_labels_and_a_numeric_unprivileged_user(storage: Storage) -> None:
    config = storage.inspect(IMAGE)["OCIv1"]["config"]
    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["python3", "-m", "reporter.cli"]
    assert not config.get("Cmd"), "the sidecar of a Job has no arguments"
    prefix = "org.opencontainers.image."
    labels = {key.removeprefix(prefix) for key in config["Labels"] if key.startswith(prefix)}
    assert {"title", "description", "licenses", "version", "revision"} <= labels


def test_image_has_no_compiler_no_installer_and_all_bytecode(storage: Storage) -> None:
    root = storage.mount(IMAGE)
    for folder in ("usr/bin", "usr/local/bin", "bin"):
        assert not [name for name in ABSENT if (root / folder / name).exists()]
    source = root / "packages" / "reporter" / "stages"
    assert {file.stem for file in source.glob("*.py")} == {
        file.name.split(".")[0] for file in (source / "__pycache__").glob("*.pyc")
    }
    assert not (root / "root" / ".cache").exists()


def test_image_has_neither_the_embedded_server_nor_its_demo(storage: Storage) -> None:
    packages = storage.mount(IMAGE) / "packages" / "reporter"
    assert (packages / "stages").is_dir()
    assert not (packages / "embedded").exists()


# ---------------------------------------------------------------- the running container


@dataclass
class RunningContainer:
    container: RuncContainer
    health: int
    metrics: int
    seconds: float
    """
    Seconds from the start until it is ready.
    """

    def page(self, port: int, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def ready(self) -> bool:
        if self.container.has_ended():
            raise AssertionError(f"the container has ended:\n{self.container.log.read_text()}")
        try:
            return self.page(self.health, "/readyz") == "ok\n"
        except OSError:
            return False


@pytest.fixture
def running(stack: ControlPlane, storage: Storage, tmp_path: Path) -> Iterator[RunningContainer]:
    reporter_rights.install(stack.client, NAMESPACE)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    token = stack.service_account_token(NAMESPACE, reporter_rights.NAME)
    (secrets / "token").write_text(token)
    (secrets / "ca.crt").write_bytes(stack.client.ca_file.read_bytes())
    (secrets / "namespace").write_text(NAMESPACE)
    _make_readable(tmp_path)
    container = RuncContainer(storage, IMAGE, tmp_path, secrets)
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
        container.start("run", *addresses, *SHORT_FLAGS, env=env)
        try:
            started = RunningContainer(container, health, metrics, 0)
            until(started.ready, within=60, what="the container is ready")
            started.seconds = time.monotonic() - begun
            yield started
        finally:
            container.remove()


def test_container_writes_an_event_and_stops_on_sigterm(
    control_plane: ControlPlane, running: RunningContainer
) -> None:
    components.scale(control_plane.client, components.BODY_BASED_ROUTER, 0)
    event = events.wait_for(control_plane.client, "clusterBBRNotReady", within=2 * PROMPT_TIMEOUT)
    assert event.raw["reportingInstance"] == "reporter-in-a-container"
    print(f"ready after {running.seconds:.2f} s, RSS {_memory(running) / MEBIBYTE:.0f} MiB")
    assert _memory(running) < 128 * MEBIBYTE
    assert running.container.stop() == 0


def test_container_without_arguments_is_the_sidecar_of_a_job(
    storage: Storage, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    _make_readable(tmp_path)
    container = RuncContainer(storage, IMAGE, tmp_path, secrets)
    try:
        container.start(env={"JOB_NAME": "check", "POD_NAME": "check-7xk2p"})
        assert container.wait() == 1
        assert "JOB_NAMESPACE: required" in container.log.read_text()
    finally:
        container.remove()


def test_container_has_no_privileges_on_its_machine(running: RunningContainer) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{running.container.pid()}/status").read_text().splitlines()
        if ":\t" in line
    )
    assert status["Uid"].split() == ["65532"] * 4
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"


def _memory(running: RunningContainer) -> float:
    """
    Return the resident memory in bytes.
    """
    name = "process_resident_memory_bytes "
    lines = running.page(running.metrics, "/metrics").splitlines()
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))


def _make_readable(folder: Path) -> None:
    """
    Let the container's user enter pytest's folders, which are private by default.
    """
    for path in (folder, *folder.parents[:2], folder / "secrets"):
        path.chmod(0o755)
