import pytest

from devcluster.http.resource_path import ResourcePath, parse_resource_path


CORE = ("", "v1")
APPS = ("apps", "v1")


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/pods", {}, ResourcePath("list", *CORE, "pods")),
        ("GET", "/api/v1/pods", {"watch": "true"}, ResourcePath("watch", *CORE, "pods")),
        ("GET", "/api/v1/namespaces", {}, ResourcePath("list", *CORE, "namespaces")),
        ("GET", "/api/v1/namespaces/a", {}, ResourcePath("get", *CORE, "namespaces", "a", "a")),
        ("PUT", "/api/v1/namespaces/a/status", {}, ResourcePath("update", *CORE, "namespaces", "a", "a", "status")),
        ("POST", "/api/v1/namespaces/a/events", {}, ResourcePath("create", *CORE, "events", "a")),
        ("DELETE", "/api/v1/namespaces/a/events", {}, ResourcePath("deletecollection", *CORE, "events", "a")),
        ("DELETE", "/api/v1/namespaces/a/events/e", {}, ResourcePath("delete", *CORE, "events", "a", "e")),
        (
            "PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", {},
            ResourcePath("patch", *APPS, "deployments", "a", "d", "scale"),
        ),
        ("GET", "/apis/apps/v1", {}, None),
        ("GET", "/api/v1", {}, None),
        ("GET", "/version", {}, None),
        ("GET", "/api/v1/pods/a/b/c/d", {}, None),
    ],
)  # fmt: skip
def test_path_is_parsed_into_verb_and_resource(method, path, query, expected):
    assert parse_resource_path(method, path, query) == expected
