"""The conditions that a Job gets, field by field, with the Job controller beside the sidecar."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from e2e.controlplane import ControlPlane
from e2e.support.job_sidecar import SidecarJob


pytestmark = pytest.mark.controlplane

RESULT = '{"status":"success","reason":"AllChecksPassed","message":"all is well"}'
SUCCESS = {
    "status": "success",
    "reason": "ValidationPassed",
    "message": "GCP environment validated successfully",
}
FAILURE = {
    "status": "failure",
    "reason": "MissingPermissions",
    "message": "Service account lacks required IAM permissions",
    "details": {
        "missing_permissions": ["compute.instances.list", "iam.serviceAccounts.get"],
        "service_account": "my-sa@project.iam.gserviceaccount.com",
    },
}
INVALID = "Failed to parse adapter result: "
WRONG_STATUS = "invalid result format: status: must be either 'success' or 'failure'"
MISSING = (
    "Adapter container exited successfully (code 0) but did not produce a valid result file: "
    "Completed"
)
OOM = {"exitCode": 137, "reason": "OOMKilled"}
CRASH = {"exitCode": 1, "reason": "Error"}
DONE = {"exitCode": 0, "reason": "Completed"}

ROWS: dict[str, tuple[str | None, dict, tuple[str, str, str], int]] = {
    "success": (
        json.dumps(SUCCESS), {},
        ("True", "ValidationPassed", "GCP environment validated successfully"), 0,
    ),
    "failure with details": (
        json.dumps(FAILURE), {},
        ("False", "MissingPermissions", "Service account lacks required IAM permissions"), 0,
    ),
    "crash": (
        None, CRASH,
        ("False", "AdapterExitedWithError", "Adapter container exited with code 1: Error"), 1,
    ),
    "OOMKilled": (
        None, OOM,
        ("False", "AdapterOOMKilled", "Adapter container was killed due to out of memory (OOMKilled)"), 1,
    ),
    "ended without a file": (None, DONE, ("False", "AdapterMissingResults", MISSING), 1),
    "ended with an invalid file": (
        "{", CRASH,
        ("False", "AdapterExitedWithError", "Adapter container exited with code 1: Error"), 1,
    ),
    "ended with a result": (
        json.dumps(FAILURE), OOM,
        ("False", "MissingPermissions", "Service account lacks required IAM permissions"), 0,
    ),
    "invalid status": (
        '{"status":"ok"}', {}, ("False", "InvalidResultFormat", INVALID + WRONG_STATUS), 1,
    ),
    "invalid JSON": (
        '{"status":"succ', {},
        ("False", "InvalidResultFormat", INVALID + "failed to parse JSON: unexpected end of JSON input"), 1,
    ),
    "defaults": (
        '{"status":"success"}', {}, ("True", "NoReasonProvided", "No message provided"), 0,
    ),
    "cut by bytes": (
        json.dumps({"status": "failure", "reason": "é" * 100, "message": "a" + "é" * 600}), {},
        ("False", "é" * 64, "a" + "é" * 511), 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_row_of_the_decision_table(plane: ControlPlane, team: str, row: str) -> None:
    text, terminated, (status, reason, message), code = ROWS[row]
    with SidecarJob(plane, team) as job:
        job.write_status(**terminated)
        if text is not None:
            job.write_result(text)
        begun = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
        assert job.start().end() == code
        (found,) = job.conditions().values()
        written = datetime.fromisoformat(found.pop("lastTransitionTime"))
        assert begun <= written <= datetime.now(UTC) + timedelta(seconds=1)
        assert found == {
            "type": "Available",
            "status": status,
            "reason": reason,
            "message": message,
            "lastProbeTime": None,
        }


def test_timeout_of_an_adapter_that_goes_on(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_status()
        assert job.start(MAX_WAIT_TIME_SECONDS="3", CONDITION_TYPE="Checked").end() == 1
        found = job.conditions()["Checked"]
        assert (found["status"], found["reason"], found["message"]) == (
            "False", "AdapterTimeout", "Adapter did not produce results within 3s",
        )  # fmt: skip


def test_condition_before_during_and_after_the_end_of_the_job(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team) as job:
        job.write_result(RESULT)
        assert job.start().end() == 0
        before = job.await_condition("Available")
        wait = ("wait", f"job/{job.name}", "--for=condition=Available", "--timeout=30s")
        assert "condition met" in plane.kubectl(*wait, f"--namespace={team}")
        assert set(job.conditions()) == {"Available"}

        job.write_status("Succeeded", **DONE)
        job.await_condition("Complete")
        ended = job.conditions()
        assert {"Available", "Complete", "SuccessCriteriaMet"} == set(ended)
        assert ended["Available"] == before

        job.write_result('{"status":"failure","reason":"Late","message":"after the end"}')
        assert job.start().end() == 0
        after = job.conditions()
        assert (after["Available"]["status"], after["Available"]["reason"]) == ("False", "Late")
        assert {kind: after[kind] for kind in after if kind != "Available"} == {
            kind: ended[kind] for kind in ended if kind != "Available"
        }


def test_condition_of_a_job_that_has_failed(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_status("Failed", **OOM)
        failed = job.await_condition("Failed")
        assert job.start().end() == 1
        found = job.conditions()
        assert found["Available"]["reason"] == "AdapterOOMKilled"
        assert found["Failed"] == failed


def test_equal_condition_is_not_written_again(plane: ControlPlane, team: str) -> None:
    with SidecarJob(plane, team) as job:
        job.write_result(RESULT)
        assert job.start().end() == 0
        job.await_counted()
        before = plane.client.get(job.path)["metadata"]["resourceVersion"]
        assert job.start().end() == 0
        assert plane.client.get(job.path)["metadata"]["resourceVersion"] == before
        assert "has this condition already" in job.log()


def test_adapter_that_kwok_completes_without_a_file(plane: ControlPlane, team: str) -> None:
    """The status of the container is written by kwok in the kubelet's place, not by the test."""
    with SidecarJob(plane, team, scheduled=True) as job:
        job.await_condition("Complete")
        assert job.start().end() == 1
        found = job.conditions()["Available"]
        assert (found["reason"], found["message"]) == ("AdapterMissingResults", MISSING)


def test_native_sidecar_that_kwok_runs_stays_until_it_is_stopped(
    plane: ControlPlane, team: str
) -> None:
    with SidecarJob(plane, team, native=True, scheduled=True) as job:
        job.write_result(RESULT)
        job.start()
        job.await_condition("Available")
        job.await_log("waiting for the end of the pod")
        assert job.process is not None
        assert job.process.running()
        assert job.stop() == 0


@pytest.mark.parametrize("reserved", ["Complete", "Failed"])
def test_type_of_the_job_controller_is_refused(
    plane: ControlPlane, team: str, reserved: str
) -> None:
    with SidecarJob(plane, team) as job:
        job.write_result(RESULT)
        assert job.start(CONDITION_TYPE=reserved).end() == 1
        assert "HTTP 422" in job.log()
        assert job.conditions() == {}
