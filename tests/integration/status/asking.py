"""The commands that ask, and what they are asked about."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest_asyncio
import yaml

from devcluster.server import DevCluster
from tests.integration.process.reporter_process import RunningReporter, running_reporter
from tests.support.command_line import environment, run_command_line_beside
from tests.support.ports import free_port
from tests.support.status_schema import require_schema


KAITO = ("deployments.apps", "kaito-system", "kaito-workspace")
MODEL_POD = ("pods", "team-a", "qwen-7rk2p-0")
INFERENCE_SET = ("inferencesets.kaito.sh", "team-a", "qwen")
TIMEOUT = 60.0


class Ended(NamedTuple):
    code: int | None
    out: str
    err: str


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    async with DevCluster(port=free_port()) as server:
        server.load_example_stack()
        yield server


async def ask(*argv: str, stdin: bytes = b"", **environ: str) -> Ended:
    """Run a command to its end, without any terminal and any signal; wait needs those."""
    async with asyncio.timeout(TIMEOUT):
        done = await run_command_line_beside(*argv, stdin=stdin, **environ)
    ended = Ended(done.returncode, done.stdout, done.stderr)
    _require_schema(argv, ended.out)
    return ended


async def wait(*argv: str, **environ: str) -> Ended:
    """Run the command wait to its end, as a process that is killed if it has none."""
    async with running("wait", *argv, **environ) as waiting:
        ended = await waiting.ended()
    assert "Traceback" not in ended.err, ended.err
    return ended


async def wait_for(server: DevCluster, folder: Path, *argv: str) -> Ended:
    """Run the command wait with a kubeconfig of the server, which it watches."""
    config = server.write_kubeconfig(folder / "asking.kubeconfig")
    return await wait(*argv, "--from=cluster", KUBECONFIG=str(config))


def _require_schema(argv: Sequence[str], out: str) -> None:
    """
    Every document that the command prints is as published; the history is no document of /status/v1.
    """
    if argv[0] != "status" or "--history" in argv or not out:
        return
    if "json" in argv:
        require_schema(json.loads(out))
    if "yaml" in argv:
        require_schema(yaml.safe_load(out))


class Running(NamedTuple):
    """A command that runs, and the lines of its standard error until now."""

    process: asyncio.subprocess.Process
    lines: list[str]

    async def reports(self, text: str) -> None:
        """Wait for a line of standard error that contains a text."""
        assert self.process.stderr is not None
        async with asyncio.timeout(TIMEOUT):
            while not any(text in line for line in self.lines):
                line = await self.process.stderr.readline()
                assert line, f"it ended without {text!r}: {self.lines}"
                self.lines.append(line.decode())

    async def prints(self, number: int = 1) -> list[str]:
        """Return the next lines of standard output."""
        assert self.process.stdout is not None
        async with asyncio.timeout(TIMEOUT):
            return [(await self.process.stdout.readline()).decode() for _ in range(number)]

    async def ended(self) -> Ended:
        async with asyncio.timeout(TIMEOUT):
            out, err = await self.process.communicate()
        return Ended(
            self.process.returncode, (out or b"").decode(), "".join(self.lines) + err.decode()
        )


@asynccontextmanager
async def running(*argv: str, stdout: int = PIPE, **environ: str) -> AsyncIterator[Running]:
    """Run a command that waits, without any terminal; it is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "reporter.cli", *argv),
        env=environment(**environ),
        stdin=DEVNULL,
        stdout=stdout,
        stderr=PIPE,
    )
    try:
        yield Running(process, [])
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def ask_about(server: DevCluster, folder: Path, *argv: str, **environ: str) -> Ended:
    """Run a command with a kubeconfig of the server."""
    config = server.write_kubeconfig(folder / "asking.kubeconfig")
    return await ask(*argv, KUBECONFIG=str(config), **environ)


def scale_to_zero(server: DevCluster) -> None:
    server.cluster.patch(*KAITO, {"spec": {"replicas": 0}})


def scale_up(server: DevCluster) -> None:
    """
    Scale it up again, and let its controller have seen that. In one write: in between it is Unknown.
    """
    found = server.cluster.get(*KAITO)
    assert found is not None
    found["spec"]["replicas"] = 1
    seen = {"observedGeneration": found["metadata"]["generation"] + 1, "updatedReplicas": 1}
    found["status"].update(seen)
    server.cluster.upsert(found)


@asynccontextmanager
async def serving_reporter(
    server: DevCluster, folder: Path, *flags: str
) -> AsyncIterator[RunningReporter]:
    """Run a reporter that looks at everything each second, and reads no metrics pages."""
    often = ("--leader-elect=false", "--resync-seconds=1", "--scrape=off", *flags)
    async with running_reporter(server, folder, *often) as reporter:
        await reporter.wait_ready()
        yield reporter


def add_reporter_pod(
    server: DevCluster,
    address: str,
    *,
    namespace: str = "kaito-system",
    keda: str = "keda",
    name: str = "reporter-0",
    component: str = "status-reporter",
) -> None:
    """
    Store the pod of a reporter, or a hub, that listens at a loopback address of this machine.
    """
    server.cluster.upsert(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {"app.kubernetes.io/component": component},
            },
            "spec": {
                "containers": [
                    {
                        "name": "reporter",
                        "image": "example/reporter:1",
                        "args": [
                            f"--status-bind-address={address}",
                            f"--keda-namespace={keda}",
                        ],
                    }
                ]
            },
            "status": {
                "podIP": "127.0.0.1",
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
    )
