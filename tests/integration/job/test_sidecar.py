"""The sidecar over real sockets: what it asks for, what it writes, and what it survives."""

import os
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from devcluster.http.faults.rules import Hang
from reporter.process.clock import Clock
from tests.integration.job.sidecar_fixture import (
    JOB,
    JOBS,
    NAMESPACE,
    PODS,
    QUICK,
    RESULT,
    WRITTEN,
    a_condition,
    a_job,
    a_pod,
    running,
)


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
