"""Faults around the sidecar: other writers, a deleted Job, missing rights, an API server away."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.support.job_sidecar import ACCOUNT, RULES, WAIT_TIMEOUT, SidecarJob


pytestmark = pytest.mark.controlplane

RESULT = '{"status":"success","reason":"AllChecksPassed","message":"all is well"}'
GETS_JOBS, PATCHES_STATUS, GETS_PODS = RULES
READING = "cannot read the status of the adapter"


@contextmanager
def other_writer(job: SidecarJob) -> Iterator[None]:
    """Write the status of the Job all the time, each time with another resourceVersion."""
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.wait(0.01):  # else no other write would come between
            number += 1
            metadata = {"annotations": {"number": str(number)}}
            job.plane.client.patch(job.path, {"metadata": metadata})

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(WAIT_TIMEOUT)


def test_result_is_written_beside_another_writer(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_result(RESULT)
        with other_writer(job):
            assert job.start().end() == 0
        job.write_status("Succeeded", exitCode=0, reason="Completed")
        job.await_condition("Complete")
        assert job.conditions()["Available"]["reason"] == "AllChecksPassed"


def test_job_that_is_deleted(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.start()
        job.await_log("the pod has no status of an adapter")
        job.delete()
        job.write_result(RESULT)
        assert job.end() == 1
        assert f"job {team}/{job.name} not found" in job.log()


def test_job_that_is_created_anew_under_its_name_is_not_touched(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team) as job:
        job.start()
        job.await_log("the pod has no status of an adapter")
        job.delete()
        created = job.create()
        job.write_result(RESULT)
        assert job.end() == 1
        assert f"its uid is {created['metadata']['uid']}" in job.log()
        assert job.conditions() == {}


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        ([PATCHES_STATUS, GETS_PODS], "get jobs.batch"),
        ([GETS_JOBS, GETS_PODS], "patch jobs.batch/status"),
    ],
)
def test_right_that_is_missing_is_named(
    plane: ControlPlane, team: str, rules: list[Json], missing: str
) -> None:
    with SidecarJob(plane, team, rules=rules) as job:
        job.write_result(RESULT)
        assert job.start().end() == 1
        (last,) = [line for line in job.log().splitlines() if "CRITICAL" in line]
        assert f"grant the pod's service account: {missing}; " in last
        assert job.conditions() == {}


def test_without_the_right_to_read_its_pod_a_result_is_still_written(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team, rules=[GETS_JOBS, PATCHES_STATUS]) as job:
        job.start()
        job.await_log(READING)
        job.write_result(RESULT)
        assert job.end() == 0
        assert 'cannot get resource "pods"' in job.log()
        assert job.conditions()["Available"]["status"] == "True"


def test_token_that_is_replaced_while_the_sidecar_waits(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        revoke = _bound_token(job)
        job.start()
        job.await_log("the pod has no status of an adapter")
        revoke()
        job.write_token(plane.service_account_token(team, ACCOUNT))
        job.write_result(RESULT)
        assert job.end() == 0
        assert job.conditions()["Available"]["status"] == "True"


def _bound_token(job: SidecarJob):
    """Write a token that ends with a Secret; returns how to end it."""
    client, namespace = job.plane.client, job.namespace
    folder = f"/api/v1/namespaces/{namespace}/secrets"
    secret = client.create(folder, {"metadata": {"name": job.name}})
    bound = {
        "kind": "Secret",
        "apiVersion": "v1",
        "name": job.name,
        "uid": secret["metadata"]["uid"],
    }
    account = f"/api/v1/namespaces/{namespace}/serviceaccounts/{ACCOUNT}/token"
    token = client.create(account, {"spec": {"boundObjectRef": bound}})["status"]["token"]
    job.write_token(token)

    def is_refused() -> bool:
        try:
            job.plane.client_of(token).get(job.path)
        except ApiError as err:
            return err.status == 401
        return False

    def revoke() -> None:
        client.delete(f"{folder}/{job.name}")
        until(is_refused, within=WAIT_TIMEOUT, what="the old token is refused")

    return revoke


def test_api_server_that_is_away_in_the_middle(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.start(MAX_WAIT_TIME_SECONDS="300")
        job.await_log("the pod has no status of an adapter")
        with plane.paused("kwok"), plane.api_server_down():
            job.write_result(RESULT)
            job.await_log("cannot write yet", times=3)
        assert job.end() == 0
        assert job.conditions()["Available"]["reason"] == "AllChecksPassed"


@pytest.mark.slow
def test_api_server_that_is_away_for_a_minute_around_the_deadline(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team) as job:
        job.start(MAX_WAIT_TIME_SECONDS="20")
        job.await_log("the pod has no status of an adapter")
        with plane.paused("kwok"), plane.api_server_down():
            time.sleep(60)
            assert job.process is not None
            assert job.process.running()
        assert job.end() == 1
        assert job.conditions()["Available"]["reason"] == "AdapterTimeout"


def test_end_of_the_adapter_while_the_api_server_is_away(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_status()
        job.start(MAX_WAIT_TIME_SECONDS="300")
        job.await_log("waiting for")
        with plane.paused("kwok"), plane.api_server_down():
            job.await_log(READING)
        job.write_status(exitCode=1, reason="Error")
        assert job.end() == 1
        assert job.conditions()["Available"]["reason"] == "AdapterExitedWithError"


def test_stop_signal_without_a_result_writes_nothing(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_status()
        job.start()
        job.await_log("waiting for")
        assert job.stop() == 0
        assert job.conditions() == {}


@pytest.mark.parametrize(("look", "expected"), [("true", "AllChecksPassed"), ("false", None)])
def test_result_that_is_there_at_a_stop_signal(
    plane: ControlPlane, team: str, look: str, expected: str | None
) -> None:
    with SidecarJob(plane, team) as job:
        job.start(POLL_INTERVAL_SECONDS="299", LOOK_ON_SIGTERM=look)
        job.await_log("the pod has no status of an adapter")
        job.write_result(RESULT)
        assert job.stop() == 0
        assert job.conditions().get("Available", {}).get("reason") == expected


def test_native_sidecar_reports_the_end_of_its_adapter_at_its_stop_signal(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team, native=True) as job:
        job.write_status()
        job.start()
        job.await_log("waiting for")
        job.write_status(exitCode=0, reason="Completed")
        assert job.stop() == 0
        assert job.conditions()["Available"]["reason"] == "AdapterMissingResults"


def test_configuration_that_is_refused(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        assert job.start(JOB_NAMESPACE=" ").end() == 1
        assert "Failed to load configuration: JOB_NAMESPACE: required" in job.log()
        assert job.conditions() == {}


def test_details_are_in_no_request(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        result = json.loads(RESULT) | {"details": {"secret": "s3cr3t"}}
        job.write_result(json.dumps(result))
        assert job.start().end() == 0
        assert "s3cr3t" not in json.dumps(plane.client.get(job.path))
        assert "s3cr3t" not in job.log()
