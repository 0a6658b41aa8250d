"""The client of one Job against an API server in memory: what a write depends on."""

from datetime import UTC, datetime

import pytest
import pytest_asyncio

from reporter.kube.errors import Conflict, Invalid, NotFound, Unreachable
from reporter.kube.job_client import JobStatusClient, SidecarPodReader
from reporter.model.job_results import (
    Container,
    JobCondition,
    JobOwner,
    SidecarPod,
    Terminated,
)
from tests.integration.job.sidecar_fixture import JOB, NAMESPACE, POD, a_condition, a_job, a_pod
from tests.support.stubs.api_servers import a_json_response, a_kubeconfig, connected, serving


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
FOUND = JobCondition("Available", "True", "R", "m")


@pytest_asyncio.fixture
async def api(server, tmp_path):
    async with connected(str(server.write_kubeconfig(tmp_path / "kubeconfig"))) as api:
        yield api


@pytest.fixture
def jobs(api):
    return JobStatusClient(api, NAMESPACE, JOB)


async def test_a_condition_is_written_with_whole_seconds(server, jobs):
    found = await jobs.read()
    assert (found.uid, found.conditions) == ("job-uid", ())
    written = await jobs.write_condition(found, FOUND, at=NOON)
    assert written.condition("Available") == FOUND
    assert written.condition("Complete") is None
    job = server.cluster.get("jobs.batch", NAMESPACE, JOB)
    assert job["status"]["conditions"][0]["lastTransitionTime"] == "2026-05-01T12:00:00Z"


async def test_a_job_that_changed_meanwhile_is_a_conflict(server, jobs):
    found = await jobs.read()
    server.cluster.upsert(a_job("job-uid", a_condition("Suspended")))
    with pytest.raises(Conflict):
        await jobs.write_condition(found, FOUND, at=NOON)
    assert [each.type for each in (await jobs.read()).conditions] == ["Suspended"]


async def test_another_job_of_this_name_is_never_written_to(server, jobs):
    found = await jobs.read()
    server.cluster.upsert(a_job("another-uid"))
    with pytest.raises((Conflict, Invalid)):
        await jobs.write_condition(found, FOUND, at=NOON)
    assert (await jobs.read()).conditions == ()


async def test_a_job_that_was_deleted_is_not_found(server, jobs):
    found = await jobs.read()
    server.cluster.delete("jobs.batch", NAMESPACE, JOB)
    with pytest.raises(NotFound):
        await jobs.read()
    with pytest.raises(NotFound):
        await jobs.write_condition(found, FOUND, at=NOON)


async def test_a_pod_is_read_with_its_owner_its_containers_and_its_native_sidecars(server, api):
    reader = SidecarPodReader(api, NAMESPACE, POD)
    server.cluster.upsert(a_pod(exitCode=3, reason="Error"))
    assert await reader.read() == SidecarPod(
        JobOwner(JOB, "job-uid"),
        (Container("adapter", Terminated(3, "Error")), Container("status-reporter")),
    )
    server.cluster.upsert(a_pod(native=True))
    assert (await reader.read()).native_sidecars == {"status-reporter"}


NULLS = {
    "metadata": {"ownerReferences": None},
    "spec": {"initContainers": None},
    "status": {"containerStatuses": None},
}
ODD = {
    "metadata": {
        "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": None}
        ]
    },
    "spec": {"initContainers": [{"name": "init", "restartPolicy": None}]},
    "status": {
        "containerStatuses": [
            {"name": "a", "state": None},
            {"name": "b", "state": {"terminated": {"exitCode": 1, "reason": None}}},
        ]
    },
}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, SidecarPod(None, ())),
        (NULLS, SidecarPod(None, ())),
        (ODD, SidecarPod(None, (Container("a"), Container("b", Terminated(1, ""))))),
    ],
    ids=["empty", "nulls", "odd"],
)
async def test_a_pod_with_nulls_is_read(tmp_path, body, expected):
    async def answer(_):
        return a_json_response(body)

    async with serving(answer) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        assert await SidecarPodReader(api, NAMESPACE, POD).read() == expected


async def test_a_job_of_another_api_group_is_no_owner(tmp_path):
    owner = {"kind": "Job", "name": "j", "uid": "u", "controller": True}

    async def answer(request):
        version = request.path.rpartition("/")[2]
        owners = [{**owner, "apiVersion": f"{version}/v1"}]
        return a_json_response({"metadata": {"ownerReferences": owners}})

    async with serving(answer) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        found = [
            (await SidecarPodReader(api, NAMESPACE, group).read()).owner
            for group in ("batch", "batch.volcano.sh")
        ]
    assert found == [JobOwner("j", "u"), None]


async def test_an_answer_that_is_no_object_is_a_failure_that_may_pass(tmp_path):
    async def answer(_):
        return a_json_response([])

    async with serving(answer) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        with pytest.raises(Unreachable):
            await SidecarPodReader(api, NAMESPACE, POD).read()
        with pytest.raises(Unreachable):
            await JobStatusClient(api, NAMESPACE, JOB).read()


async def test_names_are_parts_of_the_path_and_no_more(tmp_path):
    async def answer(_):
        return a_json_response({})

    async with serving(answer) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        await SidecarPodReader(api, "../x", "a/b?c").read()
        (request,) = server.requests
    assert request.raw_path == "/api/v1/namespaces/..%2Fx/pods/a%2Fb%3Fc"
