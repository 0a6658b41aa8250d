"""
Patch the status of a Job: conditions of any type, and the preconditions uid and resourceVersion.
"""

import pytest

from tests.conformance.api import STRATEGIC


JOB = {
    "metadata": {"name": "j1"},
    "spec": {
        "suspend": True,
        "managedBy": "example.test/nobody",  # so that no controller writes to it
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        },
    },
}


@pytest.fixture
async def job(api):
    """Create a Job that only the test writes to, with a condition, and return its path."""
    path = api.with_path("jobs", group="batch/v1")
    assert (await api.create(path, JOB)).status == 201
    suspended = await api.patch(f"{path}/j1/status", a_patch("Suspended"), STRATEGIC)
    assert suspended.status == 200
    return f"{path}/j1"


def a_patch(kind, reason="R", **metadata):
    condition = {"type": kind, "status": "True", "reason": reason, "message": "m"}
    return {"metadata": metadata, "status": {"conditions": [condition]}}


async def test_conditions_of_any_type_are_merged_by_it(api, job):
    for kind, reason in (("Available", "A"), ("Checked", "B"), ("Available", "C")):
        answer = await api.patch(f"{job}/status", a_patch(kind, reason), STRATEGIC)
        assert answer.status == 200
    found = {each["type"]: each["reason"] for each in answer.json["status"]["conditions"]}
    assert found.keys() == {"Suspended", "Available", "Checked"}
    assert (found["Available"], found["Checked"]) == ("C", "B")
    assert answer.json["spec"]["suspend"] is True


async def test_another_version_is_409_and_another_uid_422(api, job):
    read = await api.get(job)
    uid, version = read.json["metadata"]["uid"], read.version
    patch = a_patch("Available", uid=uid, resourceVersion=version)
    assert (await api.patch(f"{job}/status", patch, STRATEGIC)).status == 200
    answer = await api.patch(
        f"{job}/status", a_patch("Checked", uid=uid, resourceVersion=version), STRATEGIC
    )
    assert (answer.status, answer.json["reason"]) == (409, "Conflict")
    version = (await api.get(job)).version
    answer = await api.patch(
        f"{job}/status", a_patch("Checked", uid="other", resourceVersion=version), STRATEGIC
    )
    assert (answer.status, answer.json["reason"]) == (422, "Invalid")
    answer = await api.patch(f"{job}/status", a_patch("Checked", uid="other"), STRATEGIC)
    assert answer.status == 422
    types = {each["type"] for each in (await api.get(job)).json["status"]["conditions"]}
    assert "Checked" not in types
