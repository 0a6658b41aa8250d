"""The reporter as a process of its own, against an API server in memory."""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from devcluster.server import DevCluster
from tests.integration.server.served_pages import free
from tests.support.command_line import environment
from tests.support.ports import free_port


LEASES = "leases.coordination.k8s.io"
NAME = "productionstack-status-reporter"
BBR = ("deployments.apps", "kaito-system", "body-based-router")
WAIT_TIMEOUT = 60.0
"""Seconds in which a process starts on a busy machine."""

GRACE_PERIOD = 30.0
"""
Seconds after which the kubelet kills a process that was to stop (terminationGracePeriodSeconds).
"""


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    at = free_port()  # which is still free after an outage
    async with DevCluster(port=at) as server:
        server.load_example_stack()
        yield server


class RunningReporter:
    """One process; its output goes to *log*."""

    def __init__(self, log: Path, process: Process, session: aiohttp.ClientSession) -> None:
        self._log, self.process, self._session = log, process, session
        self.metrics_at = self.health_at = ""

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def lines(self) -> list[str]:
        return self.log.splitlines()

    @property
    def lines_without_states(self) -> list[str]:
        return [line for line in self.lines if "reporter.states" not in line]

    async def get(self, path: str) -> tuple[int, str]:
        at = self.metrics_at if path == "/metrics" else self.health_at
        async with self._session.get(f"http://{at}{path}") as response:
            return response.status, await response.text()

    async def metric(self, name: str, **labels: str) -> float:
        return value_of((await self.get("/metrics"))[1], name, **labels)

    async def wait_for_metric(self, expected: float, name: str, **labels: str) -> None:
        async def shown() -> bool:
            return await self.metric(name, **labels) == expected

        await self.until(shown)

    async def wait_ready(self) -> None:
        async def ready() -> bool:
            return (await self.get("/readyz"))[0] == 200

        await self.until(ready)

    async def until(self, condition: Callable, *, within: float = WAIT_TIMEOUT) -> None:
        """Wait for a condition on a page or the log; it is false while nothing listens."""
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(within):
                began = now()
                while not await self._holds(condition):
                    assert self.process.returncode is None, self.log
                    # Its page takes ten milliseconds of its processor, and is read in loops.
                    await asyncio.sleep(max(0.02, min(5 * (now() - began), 0.5)))
                    began = now()
        except TimeoutError:
            raise AssertionError(self.log) from None

    async def _holds(self, condition: Callable) -> bool:
        try:
            found = condition()
            return bool(await found if asyncio.iscoroutine(found) else found)
        except aiohttp.ClientConnectionError:
            return False

    async def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        async with asyncio.timeout(GRACE_PERIOD):
            return await self.process.wait()


def value_of(page: str, name: str, **labels: str) -> float:
    """Return the sum of the samples of a metric with these labels on a metrics page."""
    full = f"productionstack_status_reporter_{name}"
    # To parse the other lines of the page takes most of the time of those who wait for a metric.
    lines = [line for line in page.splitlines() if line.startswith((f"{full}{{", f"{full} "))]
    return sum(
        sample.value
        for family in text_string_to_metric_families("\n".join(lines))
        for sample in family.samples
        if labels.items() <= sample.labels.items()
    )


@asynccontextmanager
async def running_reporter(
    server: DevCluster, folder: Path, *flags: str, pod: str = "reporter-0"
) -> AsyncIterator[RunningReporter]:
    """Start a process, which may not be ready yet; kill it at the end unless it was stopped."""
    config = server.write_kubeconfig(folder / "kubeconfig")
    metrics, health = str(free()), str(free())
    command = (
        *(sys.executable, "-m", "reporter.cli", "run", f"--kubeconfig={config}"),
        f"--metrics-bind-address={metrics}",
        f"--health-probe-bind-address={health}",
        *flags,
    )
    environ = environment(POD_NAME=pod, POD_NAMESPACE="kaito-system")
    log = folder / f"{pod}.log"
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            *command, env=environ, stdin=DEVNULL, stdout=written, stderr=written
        )
    try:
        async with aiohttp.ClientSession() as session:
            reporter = RunningReporter(log, process, session)
            reporter.metrics_at, reporter.health_at = metrics, health
            yield reporter
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def run_to_exit(*argv: str) -> tuple[int | None, str]:
    """Return the exit code and the output of a run that ends by itself."""
    command = (sys.executable, "-m", "reporter.cli", "run", *argv)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment(), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(WAIT_TIMEOUT):
        out, err = await process.communicate()
    return process.returncode, (out + err).decode()


def events(server: DevCluster) -> list[str]:
    found = server.cluster.list("events", "kube-system")
    return sorted(f"{event['reason']} x{event['count']}" for event in found)


def scale_to_zero(server: DevCluster) -> None:
    server.cluster.patch(*BBR, {"spec": {"replicas": 0}})


def holder(server: DevCluster) -> str | None:
    lease = server.cluster.get(LEASES, "kaito-system", NAME)
    found: str = lease["spec"].get("holderIdentity") or "" if lease else ""
    return found
