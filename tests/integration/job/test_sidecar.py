"""
The sidecar over real sockets: what it asks for, what it writes, and what it survives.
"""

import asyncio
import os
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec
import pytest
import pytest_asyncio

from reporter.embedded.http.faults.rules import (
    CutConnection,
    FaultResponse,
    Hang,
    bad_gateway_response,
    overloaded_response,
    status_response,
    truncated_response,
)
from reporter.embedded.schema.api_errors import invalid, invalid_value
from reporter.embedded.server import EmbeddedServer
from reporter.job.writer import NotWrittenError
from reporter.runtime.process.clock import Clock
from tests.integration.job.sidecar_fixture import (
    JOB,
    NAMESPACE,
    POD,
    QUICK,
    RESULT,
    SHORT,
    a_condition,
    a_job,
    a_pod,
    running,
)


WRITTEN = ("True", "AllChecksPassed", "all is well")
JOBS, PODS = f"/jobs/{JOB}", f"/pods/{POD}"
CONFLICT = status_response(409, "Conflict", "the object has been modified")


@pytest_asyncio.fixture
async def server():
    async with EmbeddedServer() as server:
        server.cluster.upsert(a_job())
        server.cluster.upsert(a_pod())
        yield server


async def test_a_result_becomes_a_condition_by_one_patch_of_the_status(server, tmp_path):
    begun = Clock().now().replace(microsecond=0)
    async with running(server, tmp_path, CONDITION_TYPE="Checked") as sidecar:
        await sidecar.wait_asked("GET", PODS)
        assert sidecar.count("GET", JOBS) == 0
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    (found,) = sidecar.conditions()
    at = datetime.fromisoformat(found.pop("lastTransitionTime"))
    assert begun <= at <= Clock().now()
    assert {key: value for key, value in found.items() if value is not None} == {
        "type": "Checked",
        "status": "True",
        "reason": "AllChecksPassed",
        "message": "all is well",
    }
    assert [each for each in server.requests if JOBS in each[1]] == [
        ("GET", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{JOB}"),
        ("PATCH", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{JOB}/status"),
    ]


async def test_a_failure_of_the_check_is_no_failure_of_the_sidecar(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_text('{"status":"failure","reason":"Slow","message":"9 s"}')
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == ("False", "Slow", "9 s")


async def test_conditions_of_others_stay_and_its_own_is_replaced(server, tmp_path):
    others = [a_condition("Suspended", "False"), a_condition("Complete")]
    old = a_condition("Available", "False", "AdapterTimeout", "too late")
    server.cluster.upsert(a_job("job-uid", others[0], old, others[1]))
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN
    assert sidecar.condition()["lastTransitionTime"] != old["lastTransitionTime"]
    assert [each for each in sidecar.conditions() if each["type"] != "Available"] == others


async def test_an_equal_condition_is_not_written_again(server, tmp_path):
    old = a_condition("Available", *WRITTEN)
    server.cluster.upsert(a_job("job-uid", old))
    async with running(server, tmp_path) as sidecar:
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.count("PATCH", JOBS) == 0
    assert sidecar.conditions() == [old]


MISSING = (
    "Adapter container exited successfully (code 0) but did not produce a valid result file: "
)
ENDS = {
    "out of memory": (
        {"exitCode": 137, "reason": "OOMKilled"}, "AdapterOOMKilled",
        "Adapter container was killed due to out of memory (OOMKilled)",
    ),
    "an error": (
        {"exitCode": 3, "reason": "Error"}, "AdapterExitedWithError",
        "Adapter container exited with code 3: Error",
    ),
    "no file": (
        {"exitCode": 0, "reason": "Completed"}, "AdapterMissingResults", f"{MISSING}Completed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ENDS)
async def test_the_end_of_the_adapter_becomes_a_condition(server, tmp_path, row):
    terminated, reason, message = ENDS[row]
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        server.cluster.upsert(a_pod(**terminated))
        assert await sidecar.exit_code() == 1
    assert sidecar.summary() == ("False", reason, message)


async def test_the_deadline_becomes_a_condition(server, tmp_path):
    rules = replace(QUICK, max_wait=timedelta(seconds=1))
    async with running(server, tmp_path, rules=rules) as sidecar:
        assert await sidecar.exit_code() == 1
    assert sidecar.summary() == (
        "False", "AdapterTimeout", "Adapter did not produce results within 1s",
    )  # fmt: skip


async def test_a_fifo_in_place_of_the_file_is_reported(server, tmp_path):
    async with running(server, tmp_path) as sidecar:
        os.mkfifo(sidecar.path)
        assert await sidecar.exit_code() == 1
    assert sidecar.summary() == (
        "False",
        "InvalidResultFormat",
        f"Failed to parse adapter result: result file is not a regular file: path={sidecar.path}",
    )


# ------------------------------------------------------------ writing


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


# ------------------------------------------------------------ reading the pod


async def test_without_the_right_to_read_the_pod_a_file_is_still_reported(
    server, tmp_path, caplog
):
    server.deny("get", "", "pods")
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS, times=2)
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN
    assert 'cannot get resource "pods"' in caplog.text


async def test_a_server_that_hangs_does_not_delay_the_file(server, tmp_path):
    server.faults.add(Hang(), path=PODS)
    async with running(server, tmp_path) as sidecar:
        await sidecar.wait_asked("GET", PODS)
        sidecar.path.write_bytes(RESULT)
        assert await sidecar.exit_code() == 0
    assert sidecar.summary() == WRITTEN


# ------------------------------------------------------------ stop signals and native sidecars


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
    server.faults.add(FAULTS["a cut connection"], path=JOBS)
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
