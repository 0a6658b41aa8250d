"""Stop signals, and sidecars that the kubelet restarts."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from devcluster.http.faults.rules import CutConnection
from reporter.job.writer import NotWrittenError
from tests.integration.job.sidecar_fixture import (
    JOBS,
    PODS,
    QUICK,
    RESULT,
    SHORT,
    WRITTEN,
    a_pod,
    running,
)


async def test_a_stop_signal_without_a_result_leaves_the_job_as_it_is(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        sidecar.stop.receive()
        assert await sidecar.exit_code() == 0
    assert sidecar.conditions() == []
    assert sidecar.count("GET", JOBS) == 0


async def test_a_result_that_is_there_at_a_stop_signal_is_written(server, tmp_path):
    rules = replace(QUICK, poll_interval=timedelta(seconds=59))
    async with running(server, tmp_path, rules=rules) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        sidecar.path.write_bytes(RESULT)
        sidecar.stop.receive()
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN


async def test_a_write_that_fails_after_a_stop_signal_is_given_up_in_time(server, tmp_path):
    server.faults.add(CutConnection(), path=JOBS)
    limits = replace(SHORT, after_stop=timedelta(seconds=0.3))
    async with running(server, tmp_path, limits=limits) as sidecar:
        sidecar.path.write_bytes(RESULT)
        await sidecar.wait_asked("GET", JOBS, times=2)
        assert not sidecar.task.done()
        sidecar.stop.receive()
        with pytest.raises(NotWrittenError):
            await sidecar.exit_code()


async def test_a_native_sidecar_stays_after_its_report_and_ends_with_zero(server, tmp_path):
    server.cluster.upsert(a_pod(native=True))
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        server.cluster.upsert(a_pod(native=True, exitCode=1, reason="Error"))
        await sidecar.wait_for(sidecar.summary)
        assert sidecar.summary()[1] == "AdapterExitedWithError"
        await asyncio.sleep(0.1)
        assert not sidecar.task.done()
        sidecar.stop.receive()
        assert await sidecar.exit_code() == 0
    assert sidecar.count("PATCH", JOBS) == 1


async def test_a_native_sidecar_sees_an_end_that_is_written_after_its_stop_signal(
    server, tmp_path
):
    server.cluster.upsert(a_pod(native=True))
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        asked = sidecar.count("GET", PODS)
        sidecar.stop.receive()
        await sidecar.wait_asked("GET", PODS, times=asked + 2)
        server.cluster.upsert(a_pod(native=True, exitCode=0, reason="Completed"))
        assert await sidecar.exit_code() == 0
    assert sidecar.summary()[1] == "AdapterMissingResults"


async def test_a_native_sidecar_that_is_stopped_before_it_has_read_its_pod_sees_it_too(
    server, tmp_path
):
    server.cluster.upsert(a_pod(native=True))
    async with running(server, tmp_path) as sidecar:
        sidecar.stop.receive()  # before its task runs
        await sidecar.wait_asked("GET", PODS, times=2)
        server.cluster.upsert(a_pod(native=True, exitCode=0, reason="Completed"))
        assert await sidecar.exit_code() == 0
    assert sidecar.summary()[1] == "AdapterMissingResults"


@pytest.mark.parametrize(("native", "stays"), [("true", True), ("false", False)])
async def test_a_variable_decides_over_the_pod(server, tmp_path, native, stays):
    server.cluster.upsert(a_pod(native=not stays))
    async with running(server, tmp_path, NATIVE_SIDECAR=native) as sidecar:
        sidecar.path.write_bytes(RESULT)
        await sidecar.wait_for(sidecar.summary)
        if stays:
            await asyncio.sleep(0.1)
            assert not sidecar.task.done()
            sidecar.stop.receive()
        assert await sidecar.exit_code() == 0
