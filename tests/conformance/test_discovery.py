"""Discovery, aggregated and in its older form."""

import asyncio

import pytest

from tests.conformance.api import AGGREGATED, WATCH_TIMEOUT


def version_of(answer, group, version):
    items = answer.json["items"]
    found = next(item for item in items if item["metadata"].get("name", "") == group)
    return next(each for each in found["versions"] if each["version"] == version)


def resource_of(answer, group, version, name):
    resources = version_of(answer, group, version)["resources"]
    return next(each for each in resources if each["resource"] == name)


async def test_the_aggregated_form_names_each_resource(api):
    answer = await api.get("/apis", Accept=f"{AGGREGATED},application/json")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == AGGREGATED
    assert (answer.json["kind"], answer.json["apiVersion"]) == (
        "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2",
    )  # fmt: skip
    assert version_of(answer, "apps", "v1")["freshness"] == "Current"
    deployments = resource_of(answer, "apps", "v1", "deployments")
    assert deployments.pop("subresources") == [
        {
            "subresource": "scale",
            "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
            "verbs": ["get", "patch", "update"],
        },
        {
            "subresource": "status",
            "responseKind": {"group": "", "version": "", "kind": "Deployment"},
            "verbs": ["get", "patch", "update"],
        },
    ]
    assert deployments == {
        "resource": "deployments",
        "responseKind": {"group": "", "version": "", "kind": "Deployment"},
        "scope": "Namespaced",
        "singularResource": "deployment",
        "verbs": [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ],
        "shortNames": ["deploy"],
        "categories": ["all"],
    }


async def test_the_core_group_has_no_name(api):
    answer = await api.get("/api", Accept=AGGREGATED)
    assert [item["metadata"] for item in answer.json["items"]] == [{}]
    assert resource_of(answer, "", "v1", "pods")["responseKind"]["kind"] == "Pod"
    namespaces = resource_of(answer, "", "v1", "namespaces")
    assert namespaces["scope"] == "Cluster"
    assert "deletecollection" not in namespaces["verbs"]


async def _ask_thrice(api, path):
    first = await api.get(path, Accept=AGGREGATED)
    again = await api.get(path, Accept=AGGREGATED, **{"If-None-Match": first.headers["ETag"]})
    other = await api.get(path, Accept=AGGREGATED, **{"If-None-Match": '"other"'})
    return first, again, other


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_what_has_not_changed_is_304(api, path):
    async with asyncio.timeout(WATCH_TIMEOUT):
        first, again, other = await _ask_thrice(api, path)
        while first.headers["ETag"] != other.headers["ETag"]:
            # Kinds installed before come and go in discovery a moment later.
            first, again, other = await _ask_thrice(api, path)
    assert (again.status, again.text) == (304, "")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert (other.status, other.headers["ETag"]) == (200, first.headers["ETag"])


async def test_health_and_version_are_there(api):
    assert (await api.get("/readyz")).text == "ok"
    assert (await api.get("/livez")).text == "ok"
    assert (await api.get("/version")).json["gitVersion"].startswith("v1.")
