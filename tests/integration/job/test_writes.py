"""
Writes of the condition: conflicts, an API server that fails or is away, a Job that is gone, rights.
"""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from devcluster.http.faults.rules import (
    CutConnection,
    FaultResponse,
    bad_gateway_response,
    overloaded_response,
    status_response,
    truncated_response,
)
from devcluster.schema.api_errors import invalid, invalid_value
from reporter.job.writer import NotWrittenError
from tests.integration.job.sidecar_fixture import (
    JOB,
    JOBS,
    NAMESPACE,
    PODS,
    QUICK,
    RESULT,
    SHORT,
    WRITTEN,
    a_job,
    running,
)


CONFLICT = status_response(409, "Conflict", "the object has been modified")


@pytest.mark.parametrize("conflicts", [1, 3, 9])
async def test_conflicts_are_tried_again(server, tmp_path, conflicts):
    server.faults.add(CONFLICT, method="PATCH", times=conflicts)
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN
    assert sidecar.count("PATCH", JOBS) == conflicts + 1
    assert sidecar.count("GET", JOBS) == conflicts + 1


FAULTS = {
    "an error of the server": status_response(500, "InternalError", "etcd is away"),
    "a timeout of the server": status_response(504, "Timeout", "too slow"),
    "a server that starts": status_response(503, "ServiceUnavailable", "not yet"),
    "too many requests": overloaded_response(1),
    "a proxy's page": bad_gateway_response(),
    "a cut connection": CutConnection(),
    "half an answer": truncated_response(),
}


@pytest.mark.parametrize("row", FAULTS)
async def test_a_failure_that_may_pass_is_tried_again(server, tmp_path, row):
    server.faults.add(FAULTS[row], path=JOBS, times=3)
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN


async def test_the_result_is_written_when_the_server_is_back(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        await server.stop()
        sidecar.path.write_bytes(RESULT)
        await asyncio.sleep(0.3)
        await server.start()
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN


async def test_it_gives_up_after_its_limit_behind_the_deadline(server, tmp_path):
    limits = replace(SHORT, after_deadline=timedelta(seconds=0.2))
    rules = replace(QUICK, max_wait=timedelta(seconds=1))
    server.faults.add(FAULTS["a proxy's page"], path=JOBS)
    async with running(server, tmp_path, rules=rules, limits=limits) as sidecar:
        with pytest.raises(NotWrittenError, match="HTTP 502"):
            await sidecar.exit_code()
    assert sidecar.conditions() == []


async def test_a_job_that_is_gone_is_named(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        server.cluster.delete("jobs.batch", NAMESPACE, JOB)
        sidecar.path.write_bytes(RESULT)
        with pytest.raises(NotWrittenError, match=f"^job {NAMESPACE}/{JOB} not found"):
            await sidecar.exit_code()


async def test_a_job_that_was_created_anew_is_not_touched(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        server.cluster.upsert(a_job("another-uid"))
        sidecar.path.write_bytes(RESULT)
        with pytest.raises(NotWrittenError, match="its uid is another-uid"):
            await sidecar.exit_code()
    assert sidecar.conditions() == []
    assert sidecar.count("PATCH", JOBS) == 0


@pytest.mark.parametrize(
    ("verb", "group", "resource", "text"),
    [
        ("get", "batch", "jobs", "grant the pod's service account: get jobs.batch; "),
        ("patch", "batch", "jobs/status", "grant the pod's service account: patch jobs.batch/status; "),
    ],
)  # fmt: skip
async def test_a_missing_permission_is_named(server, tmp_path, verb, group, resource, text):
    server.deny(verb, group, resource)
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        with pytest.raises(NotWrittenError, match=text):
            await sidecar.exit_code()
    assert sidecar.conditions() == []


async def test_a_permission_that_is_granted_a_moment_later_suffices(server, tmp_path):
    denial = server.deny("patch", "batch", "jobs/status")
    limits = replace(SHORT, refused=timedelta(seconds=30))
    async with running(server, tmp_path, limits=limits) as sidecar:
        sidecar.path.write_bytes(RESULT)
        await sidecar.wait_asked("PATCH", JOBS)
        server.allow(denial)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN


async def test_a_type_that_the_api_server_refuses_is_a_failure_at_once(server, tmp_path):
    cause = invalid_value("status.conditions", "Complete", "may not be written")
    status = invalid("Job", "batch", JOB, [cause]).status
    headers = {"Content-Type": "application/json"}
    server.faults.add(FaultResponse(422, msgspec.json.encode(status), headers), method="PATCH")
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        with pytest.raises(NotWrittenError, match="may not be written"):
            await sidecar.exit_code()
    assert sidecar.count("PATCH", JOBS) == 1
