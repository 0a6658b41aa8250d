"""Create and patch a Deployment: defaults, generation, status and scale subresources."""

import pytest

from tests.conformance.api import STRATEGIC


DEPLOYMENT = {
    "metadata": {"name": "d1", "labels": {"app": "d1"}},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "d1"}},
        "template": {
            "metadata": {"labels": {"app": "d1"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
    "status": {"replicas": 7},
}


@pytest.fixture
async def deployment(api):
    """
    Create a Deployment with no replicas, which controllers soon leave alone, and return its path.
    """
    path = api.with_path("deployments", group="apps/v1")
    created = await api.create(path, DEPLOYMENT)
    assert created.status == 201
    if api.kind == "real":
        await api.until(f"{path}/d1", lambda a: a.json["status"].get("observedGeneration") == 1)
    return f"{path}/d1"


async def test_a_created_deployment_has_no_status_and_generation_one(api):
    answer = await api.create(api.with_path("deployments", group="apps/v1"), DEPLOYMENT)
    assert answer.json["status"] == {}
    assert answer.json["metadata"]["generation"] == 1
    assert answer.json["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }


async def test_a_strategic_patch_merges_conditions_by_their_type(api, deployment):
    first = {"type": "A", "status": "True", "reason": "R", "message": "m"}
    other = {"type": "B", "status": "True", "reason": "R", "message": "m"}
    await api.patch(f"{deployment}/status", {"status": {"conditions": [first]}}, STRATEGIC)
    answer = await api.patch(
        f"{deployment}/status", {"status": {"conditions": [other]}}, STRATEGIC
    )
    found = {c["type"] for c in answer.json["status"]["conditions"]}
    assert {"A", "B"} <= found


@pytest.mark.parametrize(
    ("patch", "generation"),
    [
        ({"spec": {"replicas": 0}}, 1),
        ({"metadata": {"labels": {"x": "y"}}}, 1),
        ({"status": {"replicas": 9}}, 1),
        ({"spec": {"minReadySeconds": 5}}, 2),
        ({"metadata": {"annotations": {"x": "y"}}}, 2),
    ],
    ids=["the same", "a label", "status", "spec", "an annotation"],
)
async def test_the_generation_of_a_deployment_grows_with_what_it_is_to_be(
    api, deployment, patch, generation
):
    answer = await api.patch(deployment, patch)
    assert answer.json["metadata"]["generation"] == generation


async def test_the_status_subresource_writes_the_status_alone(api, deployment):
    patch = {
        "status": {"collisionCount": 9},
        "spec": {"replicas": 5},
        "metadata": {"labels": {"z": "1"}},
    }
    answer = await api.patch(f"{deployment}/status", patch)
    assert answer.json["status"]["collisionCount"] == 9
    assert answer.json["spec"]["replicas"] == 0
    assert answer.json["metadata"]["labels"] == {"app": "d1"}
    assert answer.json["metadata"]["generation"] == 1


async def test_the_main_resource_ignores_the_status(api, deployment):
    answer = await api.patch(deployment, {"status": {"collisionCount": 9}})
    assert "collisionCount" not in answer.json["status"]


async def test_zero_counters_of_a_status_are_left_out(api, deployment):
    patch = {"status": {"readyReplicas": 0, "replicas": 0, "collisionCount": 3}}
    answer = await api.patch(f"{deployment}/status", patch)
    assert answer.json["status"]["collisionCount"] == 3
    assert "readyReplicas" not in answer.json["status"]
    assert "replicas" not in answer.json["status"]


async def test_scale_shows_and_sets_the_replicas(api, deployment):
    scale = await api.get(f"{deployment}/scale")
    assert (scale.json["kind"], scale.json["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale.json["spec"] == {}
    assert scale.json["status"] == {"replicas": 0, "selector": "app=d1"}
    scaled = await api.patch(f"{deployment}/scale", {"spec": {"replicas": 1}})
    assert (scaled.status, scaled.json["spec"]) == (200, {"replicas": 1})
    read = await api.get(deployment)
    assert (read.json["spec"]["replicas"], read.json["metadata"]["generation"]) == (1, 2)
    back = await api.patch(f"{deployment}/scale", {"spec": {"replicas": 0}})
    assert back.json["spec"] == {}


async def test_a_scale_of_an_old_version_is_409(api, deployment):
    scale = (await api.get(f"{deployment}/scale")).json
    scale["metadata"]["resourceVersion"] = "1"
    answer = await api.put(f"{deployment}/scale", {**scale, "spec": {"replicas": 1}})
    assert (answer.status, answer.json["reason"]) == (409, "Conflict")
    assert answer.message.startswith('Operation cannot be fulfilled on deployments.apps "d1": ')


async def test_fewer_than_no_replicas_are_422(api, deployment):
    scaled = await api.patch(f"{deployment}/scale", {"spec": {"replicas": -1}})
    patched = await api.patch(deployment, {"spec": {"replicas": -1}})
    what = "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    assert (scaled.status, scaled.message) == (422, f'Scale.autoscaling "d1" is invalid: {what}')
    assert (patched.status, patched.message) == (422, f'Deployment.apps "d1" is invalid: {what}')


async def test_a_deployment_needs_a_selector_that_fits_and_containers(api):
    body = {"metadata": {"name": "d2"}, "spec": {}}
    answer = await api.create(api.with_path("deployments", group="apps/v1"), body)
    assert answer.status == 422
    assert [cause["field"] for cause in answer.json["details"]["causes"]] == [
        "spec.selector",
        "spec.template.metadata.labels",
        "spec.template.spec.containers",
    ]
