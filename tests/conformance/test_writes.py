"""Create, update and patch objects; conflicts and refusals."""

import pytest


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
