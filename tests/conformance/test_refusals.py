"""The answers to requests that match no resource or are invalid."""

import pytest


NO_RESOURCE = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"


@pytest.mark.parametrize(
    "path",
    ["/nope", "/apis/no.such.group/v1", "/apis/no.such.group/v1/widgets", "/apis/no.such.group"],
)
async def test_an_unknown_path_or_group_is_404_in_plain_text(api, path):
    answer = await api.get(path)
    assert (answer.status, answer.text) == (404, "404 page not found\n")
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nopes",
        "/api/v1/namespaces/default/nopes/x",
        "/apis/apps/v1/deployments/x",
        "/apis/apps/v1/namespaces",
    ],
)
async def test_an_unknown_resource_of_a_built_in_group_is_404_with_a_status(api, path):
    answer = await api.get(path)
    assert answer.status == 404
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": NO_RESOURCE,
        "reason": "NotFound",
        "details": {},
        "code": 404,
    }


@pytest.mark.parametrize(
    ("path", "text", "details"),
    [
        ("/api/v1/namespaces/default/pods/x", 'pods "x" not found', {"name": "x", "kind": "pods"}),
        ("/api/v1/namespaces/nope", 'namespaces "nope" not found', {"name": "nope", "kind": "namespaces"}),
        (
            "/apis/apps/v1/namespaces/default/deployments/x",
            'deployments.apps "x" not found',
            {"name": "x", "group": "apps", "kind": "deployments"},
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments/x/scale",
            'deployments.apps "x" not found',
            {"name": "x", "group": "apps", "kind": "deployments"},
        ),
    ],
)  # fmt: skip
async def test_an_object_that_is_not_there_is_named(api, path, text, details):
    answer = await api.get(path)
    assert (answer.status, answer.json["reason"]) == (404, "NotFound")
    assert (answer.message, answer.json["details"]) == (text, details)
    assert answer.json["code"] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/configmaps"),
        ("POST", "/api/v1/namespaces/default/configmaps/x"),
        ("PUT", "/api/v1/namespaces/default/configmaps"),
        ("DELETE", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
    ],
)
async def test_a_method_that_is_not_there_is_405(api, method, path):
    answer = await api.request(method, path, {})
    assert (answer.status, answer.json["reason"], answer.message) == (
        405, "MethodNotAllowed", NO_METHOD,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"{bad", 400, "the object provided is unrecognized (must be of type ConfigMap): "),
        (
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "y"}}, 400,
            'Pod in version "v1" cannot be handled as a ConfigMap: ',
        ),
        (
            {"kind": "ConfigMap", "apiVersion": "apps/v1", "metadata": {"name": "y"}}, 400,
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered',
        ),
        (
            {"metadata": {"name": "y", "namespace": "other"}}, 400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {"metadata": {}}, 422,
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
        (
            {"metadata": {"name": "X_"}}, 422,
            'ConfigMap "X_" is invalid: metadata.name: Invalid value: "X_": a lowercase RFC 1123 subdomain must',
        ),
    ],
)  # fmt: skip
async def test_a_body_that_is_wrong_is_refused(api, body, status, text):
    answer = await api.create(api.with_path("configmaps"), body)
    assert answer.status == status
    assert answer.message.startswith(text)


async def test_a_namespace_needs_a_label_for_a_name(api):
    answer = await api.create("/api/v1/namespaces", {"metadata": {"name": "T1_"}})
    assert answer.status == 422
    assert {cause["field"] for cause in answer.json["details"]["causes"]} == {
        "metadata.name",
        "metadata.labels",
    }


async def test_an_object_in_a_namespace_that_is_not_there_is_404_of_the_namespace(api):
    answer = await api.create("/api/v1/namespaces/nope/configmaps", {"metadata": {"name": "x"}})
    assert (answer.status, answer.message) == (404, 'namespaces "nope" not found')


async def test_a_body_that_is_not_json_is_415(api):
    answer = await api.request(
        "POST", api.with_path("configmaps"), b"x", **{"Content-Type": "text/plain"}
    )
    assert (answer.status, answer.json["reason"]) == (415, "UnsupportedMediaType")


async def test_every_answer_has_a_date(api):
    answer = await api.get("/api/v1/namespaces/default")
    assert answer.headers["Date"].endswith("GMT")
