"""Electors against an API server that is down or refuses requests."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from devcluster.server import DevCluster
from reporter.kube.leases import LeaseLock
from tests.integration.kube.test_elector import (
    api,
    bounded,
    lease_lock,
    running,
    server,
)
from tests.support.stubs.api_servers import until


__all__ = ["api", "lease_lock", "server"]


async def test_a_leader_without_a_server_stops_leading_logs_it_once_and_leads_again(
    server: DevCluster, lease_lock: LeaseLock, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    async with running(lease_lock, "a") as elector:
        await bounded(elector.wait_acquired())
        await server.stop()
        await bounded(elector.wait_lost())
        assert not elector.holds_lease()
        await asyncio.sleep(1)
        await server.start()
        await bounded(elector.wait_acquired())
    lines = [record.getMessage() for record in caplog.records]
    assert sum("trying again" in line for line in lines) == 1
    assert "no longer leading: no renewal succeeded within 4 s" in lines
    assert sum("can be read and written again" in line for line in lines) == 1


async def test_a_missing_right_is_named_and_its_return_needs_no_restart(
    server: DevCluster, lease_lock: LeaseLock, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("create", "coordination.k8s.io", "leases")
    async with running(lease_lock, "a") as elector:
        await until(lambda: "create" in caplog.text)
        assert not elector.is_leader
        server.allow(denial)
        await bounded(elector.wait_acquired())
    assert "leases" in caplog.text


WRITER = """
import asyncio, sys
from datetime import timedelta
from reporter.process.clock import Clock
from reporter.kube.connect import connect
from reporter.kube.leases import LeaseLock
from reporter.kube.elector import Elector
from tests.integration.kube.test_elector import FAST_TIMING

async def main():
    api = await connect(sys.argv[1], environ={})
    book = LeaseLock(api, *sys.argv[2].split("/"))
    elector = Elector(book, FAST_TIMING, identity="paused", wall_clock=Clock().now)
    running = asyncio.create_task(elector.run())
    while not running.done():
        now = asyncio.get_running_loop().time()
        print(now, "writes" if elector.holds_lease() else "silent", flush=True)
        await asyncio.sleep(0.01)

asyncio.run(main())
"""


@asynccontextmanager
async def a_writer(kubeconfig: Path, book: LeaseLock) -> AsyncIterator[Process]:
    """A process that prints at each moment whether it would write."""
    command = (sys.executable, "-c", WRITER, str(kubeconfig), str(book))
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


async def read_line(process: Process) -> tuple[float, str]:
    """
    Return the time, by the clock that all processes of this machine share, and the word printed.
    """
    assert process.stdout
    moment, word = (await process.stdout.readline()).decode().split()
    return float(moment), word


async def test_a_leader_that_was_stopped_writes_nothing_when_it_wakes(
    server: DevCluster, lease_lock: LeaseLock, tmp_path: Path
):
    async with a_writer(server.write_kubeconfig(tmp_path / "kubeconfig"), lease_lock) as writer:
        async with asyncio.timeout(60):
            while (await read_line(writer))[1] != "writes":
                pass
        async with running(lease_lock, "b") as other:
            os.kill(writer.pid, signal.SIGSTOP)
            await bounded(other.wait_acquired())
            woken = time.monotonic()  # noqa: TID251
            os.kill(writer.pid, signal.SIGCONT)
            words = [await read_line(writer)]
            while words[-1][0] < woken + 1:
                words.append(await read_line(writer))
            assert other.holds_lease()
    assert {word for moment, word in words if moment >= woken} == {"silent"}
