"""
Create, update, merge patch and delete; generation, status, scale and conflict.
"""

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
    The path of a Deployment without replicas, so that controllers soon have nothing to do.
    """
    path = api.with_path("deployments", group="apps/v1")
    created = await api.create(path, DEPLOYMENT)
    assert created.status == 201
    if api.kind == "real":
        await api.until(f"{path}/d1", lambda a: a.json["status"].get("observedGeneration") == 1)
    return f"{path}/d1"


async def test_a_created_object_gets_what_the_server_gives(api):
    given = {
        "name": "c1",
        "labels": {"a": "b"},
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
    }
    answer = await api.create(api.with_path("configmaps"), {"metadata": given, "data": {"x": "y"}})
    assert answer.status == 201
    meta = answer.json["metadata"]
    assert (answer.json["kind"], answer.json["apiVersion"]) == ("ConfigMap", "v1")
    assert (meta["name"], meta["namespace"], meta["labels"]) == ("c1", api.namespace, {"a": "b"})
    assert meta["uid"] != "mine"
    assert meta["creationTimestamp"] > "2020"
    assert int(meta["resourceVersion"]) > 0
    assert "generation" not in meta
    read = await api.get(api.with_path("configmaps", "c1"))
    assert read.json["data"] == {"x": "y"}


async def test_a_second_of_the_same_name_is_409(api):
    await api.config_map("c1")
    answer = await api.config_map("c1")
    assert (answer.status, answer.json["reason"]) == (409, "AlreadyExists")
    assert answer.message == 'configmaps "c1" already exists'
    assert answer.json["details"] == {"name": "c1", "kind": "configmaps"}


async def test_nulls_of_built_in_objects_are_dropped(api):
    body = {"metadata": {"name": "c1", "labels": None}, "data": None}
    answer = await api.create(api.with_path("configmaps"), body)
    assert "labels" not in answer.json["metadata"]
    assert "data" not in answer.json


async def test_an_update_of_an_old_version_is_409(api):
    created = await api.config_map("c1")
    path = api.with_path("configmaps", "c1")
    await api.patch(path, {"data": {"x": "1"}})
    old = {"metadata": {"name": "c1", "resourceVersion": created.version}, "data": {"x": "2"}}
    for answer in (await api.put(path, old), await api.patch(path, old)):
        assert (answer.status, answer.json["reason"]) == (409, "Conflict")
        assert answer.message == (
            'Operation cannot be fulfilled on configmaps "c1": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
        assert answer.json["details"] == {"name": "c1", "kind": "configmaps"}


async def test_an_update_replaces_all_that_is_the_clients(api):
    created = await api.create(
        api.with_path("configmaps"),
        {"metadata": {"name": "c1", "labels": {"a": "b"}}, "data": {"x": "1"}},
    )
    answer = await api.put(
        api.with_path("configmaps", "c1"), {"metadata": {"name": "c1"}, "data": {"z": "2"}}
    )
    assert answer.status == 200
    assert answer.json["data"] == {"z": "2"}
    assert "labels" not in answer.json["metadata"]
    for kept in ("uid", "creationTimestamp"):
        assert answer.json["metadata"][kept] == created.json["metadata"][kept]
    assert int(answer.version) > int(created.version)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"metadata": {"name": "z"}}, 400, "the name of the object (z) does not match the name on the URL (c1)"),
        (
            {"metadata": {"name": "c1", "namespace": "other"}}, 400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)  # fmt: skip
async def test_an_update_must_be_of_the_object_of_its_path(api, body, status, text):
    await api.config_map("c1")
    for answer in (
        await api.put(api.with_path("configmaps", "c1"), body),
        await api.patch(api.with_path("configmaps", "c1"), body),
    ):
        assert (answer.status, answer.message) == (status, text)


async def test_an_update_with_the_uid_of_another_object_is_a_conflict(api):
    await api.config_map("c1")
    body = {"metadata": {"name": "c1", "uid": "0b0e9d6c-0000-0000-0000-000000000000"}}
    answer = await api.put(api.with_path("configmaps", "c1"), body)
    assert (answer.status, answer.json["reason"]) == (409, "Conflict")
    assert "Precondition failed: UID in precondition: 0b0e9d6c" in answer.message


async def test_a_merge_patch_merges_removes_and_replaces(api):
    body = {
        "metadata": {"name": "c1", "labels": {"a": "1", "b": "2"}},
        "data": {"x": "1", "y": "2"},
    }
    await api.create(api.with_path("configmaps"), body)
    patch = {"metadata": {"labels": {"a": None, "c": "3"}}, "data": {"x": "9"}}
    answer = await api.patch(api.with_path("configmaps", "c1"), patch)
    assert answer.status == 200
    assert answer.json["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert answer.json["data"] == {"x": "9", "y": "2"}


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
    ("body", "form", "status", "reason"),
    [
        (b"{bad", "application/merge-patch+json", 400, "BadRequest"),
        (b"[1]", "application/merge-patch+json", 400, "BadRequest"),
        (b"{}", "application/json", 415, "UnsupportedMediaType"),
    ],
)
async def test_a_patch_that_is_none_is_refused(api, body, form, status, reason):
    await api.config_map("c1")
    answer = await api.patch(api.with_path("configmaps", "c1"), body, form)
    assert (answer.status, answer.json["reason"]) == (status, reason)


async def test_a_patch_of_what_is_not_there_is_404(api):
    answer = await api.patch(api.with_path("configmaps", "nope"), {"data": {"a": "b"}})
    assert (answer.status, answer.message) == (404, 'configmaps "nope" not found')


async def test_a_created_deployment_has_no_status_and_generation_one(api):
    answer = await api.create(api.with_path("deployments", group="apps/v1"), DEPLOYMENT)
    assert answer.json["status"] == {}
    assert answer.json["metadata"]["generation"] == 1
    assert answer.json["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }


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


async def test_deleting_answers_with_a_status_that_names_what_is_gone(api):
    created = await api.config_map("c1")
    answer = await api.delete(api.with_path("configmaps", "c1"))
    assert answer.status == 200
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "c1", "kind": "configmaps", "uid": created.json["metadata"]["uid"]},
    }
    again = await api.delete(api.with_path("configmaps", "c1"))
    assert (again.status, again.message) == (404, 'configmaps "c1" not found')


async def test_a_finalizer_keeps_an_object_until_it_is_taken_away(api):
    body = {"metadata": {"name": "c1", "finalizers": ["example.test/keep"]}}
    await api.create(api.with_path("configmaps"), body)
    path = api.with_path("configmaps", "c1")
    marked = await api.delete(path)
    assert marked.status == 200
    assert marked.json["metadata"]["deletionTimestamp"]
    assert marked.json["metadata"]["deletionGracePeriodSeconds"] == 0
    assert (await api.get(path)).status == 200
    last = await api.patch(path, {"metadata": {"finalizers": None}})
    assert last.status == 200
    assert (await api.get(path)).status == 404


async def test_a_collection_is_deleted_by_its_labels(api):
    for name, value in (("a", "1"), ("b", "1"), ("c", "2")):
        await api.config_map(name, n=value)
    answer = await api.delete(api.with_path("configmaps") + "?labelSelector=n=1")
    assert (answer.status, answer.json["kind"], answer.names) == (200, "ConfigMapList", ["a", "b"])
    left = await api.get(api.with_path("configmaps") + "?labelSelector=n")
    assert left.names == ["c"]


async def test_a_pod_on_a_node_is_given_time_to_stop_and_one_without_is_not(api):
    await api.until(
        api.with_path("serviceaccounts", "default"),
        lambda a: api.kind == "embedded" or a.status == 200,
    )
    for name, node in (("running", {"nodeName": "n1"}), ("waiting", {})):
        spec = {"containers": [{"name": "c", "image": "i"}], **node}
        created = await api.create(
            api.with_path("pods"), {"metadata": {"name": name}, "spec": spec}
        )
        assert created.json["status"]["phase"] == "Pending"
    waiting = await api.delete(api.with_path("pods", "waiting"))
    running = await api.delete(api.with_path("pods", "running"))
    assert waiting.json["kind"] == running.json["kind"] == "Pod"
    assert running.json["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.get(api.with_path("pods", "waiting"))).status == 404
    assert (await api.get(api.with_path("pods", "running"))).status == 200
    await api.delete(api.with_path("pods", "running") + "?gracePeriodSeconds=0")
    assert (await api.get(api.with_path("pods", "running"))).status == 404


async def test_a_namespace_goes_with_all_that_is_in_it(api):
    name = f"{api.namespace}-b"
    created = await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.json["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
    assert created.json["status"] == {"phase": "Active"}
    inside = f"/api/v1/namespaces/{name}/configmaps"
    kept = {"metadata": {"name": "kept", "finalizers": ["example.test/keep"]}}
    await api.create(inside, kept)
    await api.create(inside, {"metadata": {"name": "c1"}})
    answer = await api.delete(f"/api/v1/namespaces/{name}")
    assert answer.json["status"]["phase"] == "Terminating"
    refused = await api.create(inside, {"metadata": {"name": "c2"}})
    assert (refused.status, refused.json["reason"]) == (403, "Forbidden")
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert refused.message == (
        f'configmaps "c2" is forbidden: unable to create new content in namespace {name} '
        "because it is being terminated"
    )
    await api.until(f"{inside}/c1", lambda a: a.status == 404)
    await api.patch(f"{inside}/kept", {"metadata": {"finalizers": None}})
    await api.until(f"/api/v1/namespaces/{name}", lambda a: a.status == 404)
