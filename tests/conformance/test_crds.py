"""CustomResourceDefinitions that are created, changed and deleted."""

import asyncio
import contextlib
import secrets

import pytest

from tests.conformance.api import AGGREGATED, STRATEGIC, TABLE, WATCH_TIMEOUT, names


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def crd(group, *versions, scope="Namespaced"):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    shapes = [
        {
            "name": name,
            "served": True,
            "storage": name == versions[0],
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema},
        }
        for name in versions
    ]
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    shapes[0]["additionalPrinterColumns"] = [column]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "names": {
                "kind": "Widget",
                "plural": "widgets",
                "singular": "widget",
                "shortNames": ["wd"],
            },
            "scope": scope,
            "versions": shapes,
        },
    }


@pytest.fixture
async def group(api):
    """A group of this test alone, with `widgets` in v1 and v1beta1, served."""
    name = f"{secrets.token_hex(4)}.example.test"
    async with installed(api, crd(name, "v1", "v1beta1")):
        yield name


@contextlib.asynccontextmanager
async def installed(api, manifest):
    created = await api.create(CRDS, manifest)
    assert created.status == 201
    group = manifest["spec"]["group"]
    for version in manifest["spec"]["versions"]:
        # From the watch cache: until it is filled, watches and some lists are refused with 429.
        path = f"/apis/{group}/{version['name']}/widgets?resourceVersion=0"
        await api.until(path, lambda answer: answer.status == 200)
    yield
    await api.delete(f"{CRDS}/widgets.{group}")
    await api.until(f"{CRDS}/widgets.{group}", lambda answer: answer.status == 404)
    await _discovered(api, group)


def widget(group, name="w1", version="v1", **more):
    return {
        "apiVersion": f"{group}/{version}",
        "kind": "Widget",
        "metadata": {"name": name},
        **more,
    }


async def test_a_crd_has_the_condition_established(api, group):
    answer = await api.get(f"{CRDS}/widgets.{group}")
    status = answer.json["status"]
    assert {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]} == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert status["storedVersions"] == ["v1"]
    assert status["acceptedNames"]["listKind"] == "WidgetList"


async def test_a_new_crd_appears_in_discovery_and_its_etag_changes(api):
    name = f"{secrets.token_hex(4)}.example.test"
    before = await api.get("/apis", Accept=AGGREGATED)
    async with installed(api, crd(name, "v1", "v1beta1")):
        after = await _discovered(api, name, "v1", "v1beta1")
        assert after.headers["ETag"] != before.headers["ETag"]
        found = next(item for item in after.json["items"] if item["metadata"]["name"] == name)
        assert [each["version"] for each in found["versions"]] == ["v1", "v1beta1"]
        widgets = found["versions"][0]["resources"][0]
        assert widgets["resource"] == "widgets"
        assert widgets["responseKind"] == {"group": name, "version": "v1", "kind": "Widget"}
        assert widgets["scope"] == "Namespaced"
        assert [sub["subresource"] for sub in widgets["subresources"]] == ["status"]
    await api.until("/apis", lambda answer: name not in answer.text)


async def _discovered(api, group, *versions):
    """
    Return discovery once it has the resources of exactly these versions of a group. The real server
    publishes each on its own, a moment after the kind is served.
    """
    async with asyncio.timeout(WATCH_TIMEOUT):
        while True:
            answer = await api.get("/apis", Accept=AGGREGATED)
            items = [each for each in answer.json["items"] if each["metadata"]["name"] == group]
            found = [each for item in items for each in item["versions"] if each.get("resources")]
            if {each["version"] for each in found} == {*versions}:
                return answer
            await asyncio.sleep(0.1)


async def test_custom_objects_are_named_by_kind_in_lists_and_have_a_generation(api, group):
    path = api.with_path("widgets", group=f"{group}/v1")
    created = await api.create(path, widget(group, spec={"size": 1}, status={"x": 1}))
    assert created.status == 201
    assert created.json["metadata"]["generation"] == 1
    assert "status" not in created.json
    listed = await api.get(path)
    assert (listed.json["kind"], listed.json["metadata"]["continue"]) == ("WidgetList", "")
    item = listed.json["items"][0]
    assert (item["kind"], item["apiVersion"]) == ("Widget", f"{group}/v1")


async def test_every_version_shows_the_same_object(api, group):
    await api.create(
        api.with_path("widgets", group=f"{group}/v1"), widget(group, spec={"size": 1})
    )
    answer = await api.get(api.with_path("widgets", "w1", group=f"{group}/v1beta1"))
    assert answer.json["apiVersion"] == f"{group}/v1beta1"
    assert answer.json["spec"] == {"size": 1}


async def test_status_and_spec_have_their_own_doors(api, group):
    path = api.with_path("widgets", "w1", group=f"{group}/v1")
    created = await api.create(path.removesuffix("/w1"), widget(group, spec={"size": 1}))
    ignored = await api.patch(path, {"status": {"x": 1}})
    assert (ignored.status, ignored.version) == (200, created.version)
    stated = await api.patch(f"{path}/status", {"status": {"x": 1}, "spec": {"size": 9}})
    assert (stated.json["status"], stated.json["spec"]) == ({"x": 1}, {"size": 1})
    assert stated.json["metadata"]["generation"] == 1
    changed = await api.patch(path, {"spec": {"size": 2}})
    assert changed.json["metadata"]["generation"] == 2
    assert changed.json["status"] == {"x": 1}
    labelled = await api.patch(path, {"metadata": {"labels": {"a": "b"}}})
    assert labelled.json["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"kind": None}, 400, "the object provided is unrecognized (must be of type Widget): "),
        ({"apiVersion": "g/v7"}, 400, "the API version in the data (g/v7) does not match the expected"),
        ({"kind": "Gadget"}, 422, 'Gadget.{group} "w1" is invalid: kind: Invalid value: "Gadget": must be Widget'),
        ({"metadata": {"name": "F_"}}, 422, 'Widget.{group} "F_" is invalid: metadata.name: Invalid value: "F_": '),
    ],
)  # fmt: skip
async def test_a_custom_object_must_have_the_kind_and_version_of_its_path(
    api, group, change, status, text
):
    body = {k: v for k, v in {**widget(group), **change}.items() if v is not None}
    answer = await api.create(api.with_path("widgets", group=f"{group}/v1"), body)
    assert answer.status == status
    assert answer.message.startswith(text.format(group=group))


async def test_a_custom_object_is_not_replaced_without_a_resource_version(api, group):
    path = api.with_path("widgets", "w1", group=f"{group}/v1")
    await api.create(path.removesuffix("/w1"), widget(group))
    answer = await api.put(path, widget(group))
    assert answer.status == 422
    assert answer.message == (
        f'widgets.{group} "w1" is invalid: metadata.resourceVersion: '
        "Invalid value: 0: must be specified for an update"
    )


async def test_there_is_no_strategic_patch_of_a_custom_object(api, group):
    path = api.with_path("widgets", "w1", group=f"{group}/v1")
    await api.create(path.removesuffix("/w1"), widget(group))
    answer = await api.patch(path, {"spec": {}}, STRATEGIC)
    assert (answer.status, answer.json["reason"]) == (415, "UnsupportedMediaType")
    assert "application/merge-patch+json" in answer.message


async def test_a_finalizer_of_a_custom_object_raises_its_generation_at_deletion(api, group):
    path = api.with_path("widgets", "w1", group=f"{group}/v1")
    body = widget(group)
    body["metadata"]["finalizers"] = ["example.test/keep"]
    await api.create(path.removesuffix("/w1"), body)
    marked = await api.delete(path)
    assert marked.json["metadata"]["generation"] == 2
    assert marked.json["metadata"]["deletionTimestamp"]
    await api.patch(path, {"metadata": {"finalizers": []}})
    assert (await api.get(path)).status == 404


async def test_the_table_of_a_custom_object_has_the_columns_of_the_crd(api, group):
    path = api.with_path("widgets", group=f"{group}/v1")
    await api.create(path, widget(group, spec={"size": 3}))
    found = (await api.get(path, Accept=TABLE)).json
    plain = (await api.get(api.with_path("widgets", group=f"{group}/v1beta1"), Accept=TABLE)).json
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Size"]
    assert found["rows"][0]["cells"] == ["w1", 3]
    assert [column["name"] for column in plain["columnDefinitions"]] == ["Name", "Age"]


async def test_fields_of_custom_objects_cannot_be_selected_by(api, group):
    answer = await api.get(f"/apis/{group}/v1/widgets?fieldSelector=spec.size=1")
    assert (answer.status, answer.message) == (400, "field label not supported: spec.size")


async def test_a_bookmark_of_a_custom_kind_has_nothing_but_a_version(api, group):
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"/apis/{group}/v1/widgets?{query}") as stream:
        frame = await stream.frame()
    assert frame["type"] == "BOOKMARK"
    assert set(frame["object"]) == {"kind", "apiVersion", "metadata"}


async def test_a_watch_from_before_the_crd_is_too_old(api, group):
    path = f"/apis/{group}/v1/widgets?resourceVersion=1&timeoutSeconds=60"
    async with api.watch(path) as stream:
        frames = await stream.remaining_frames()
    assert frames[0]["type"] == "ERROR"
    assert frames[0]["object"]["code"] == 410
    assert frames[0]["object"]["message"].startswith("too old resource version: 1 (")


async def test_with_the_crd_go_its_objects_their_watches_and_the_paths(api):
    name = f"{secrets.token_hex(4)}.example.test"
    path = f"/apis/{name}/v1/widgets"
    async with installed(api, crd(name, "v1")):
        await api.create(api.with_path("widgets", group=f"{name}/v1"), widget(name))
        async with api.watch(path) as stream:
            assert names([await stream.frame()]) == [("ADDED", "w1")]
            answer = await api.delete(f"{CRDS}/widgets.{name}")
            assert answer.json["metadata"]["finalizers"] == [
                "customresourcecleanup.apiextensions.k8s.io"
            ]
            assert names(await stream.remaining_frames()) == [("DELETED", "w1")]
        not_found = await api.until(path, lambda found: found.status == 404)
    assert not_found.text == "404 page not found\n"
    assert not_found.headers["Content-Type"].startswith("text/plain")


async def test_a_version_that_is_no_longer_served_is_gone(api, group):
    manifest = (await api.get(f"{CRDS}/widgets.{group}")).json
    manifest["spec"]["versions"][1]["served"] = False
    changed = await api.put(f"{CRDS}/widgets.{group}", manifest)
    assert (changed.status, changed.json["metadata"]["generation"]) == (200, 2)
    not_found = await api.until(
        f"/apis/{group}/v1beta1/widgets", lambda found: found.status == 404
    )
    assert not_found.text == "404 page not found\n"
    await api.until(f"/apis/{group}/v1/widgets", lambda found: found.status == 200)


async def test_a_cluster_scoped_kind_has_no_namespaces(api):
    name = f"{secrets.token_hex(4)}.example.test"
    async with installed(api, crd(name, "v1", scope="Cluster")):
        created = await api.create(f"/apis/{name}/v1/widgets", widget(name))
        assert created.status == 201
        assert "namespace" not in created.json["metadata"]
        misplaced = await api.get(api.with_path("widgets", group=f"{name}/v1"))
        assert misplaced.status == 404


async def test_a_crd_must_be_named_after_what_it_defines(api):
    answer = await api.create(CRDS, {**crd("example.test", "v1"), "metadata": {"name": "x"}})
    assert answer.status == 422
    cause = answer.json["details"]["causes"][0]
    assert cause["field"] == "metadata.name"
    assert cause["message"] == 'Invalid value: "x": must be spec.names.plural+"."+spec.group'
