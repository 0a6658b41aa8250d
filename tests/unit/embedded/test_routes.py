import pytest

from reporter.embedded.routes import Route, route


CORE = ("", "v1")
APPS = ("apps", "v1")


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/pods", {}, Route("list", *CORE, "pods")),
        ("GET", "/api/v1/pods", {"watch": "true"}, Route("watch", *CORE, "pods")),
        ("GET", "/api/v1/watch/pods", {}, Route("watch", *CORE, "pods")),
        ("GET", "/api/v1/namespaces", {}, Route("list", *CORE, "namespaces")),
        ("GET", "/api/v1/namespaces/a", {}, Route("get", *CORE, "namespaces", "a", "a")),
        ("PUT", "/api/v1/namespaces/a/status", {}, Route("update", *CORE, "namespaces", "a", "a", "status")),
        ("POST", "/api/v1/namespaces/a/events", {}, Route("create", *CORE, "events", "a")),
        ("DELETE", "/api/v1/namespaces/a/events", {}, Route("deletecollection", *CORE, "events", "a")),
        ("DELETE", "/api/v1/namespaces/a/events/e", {}, Route("delete", *CORE, "events", "a", "e")),
        (
            "PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", {},
            Route("patch", *APPS, "deployments", "a", "d", "scale"),
        ),
        ("GET", "/apis/apps/v1", {}, None),
        ("GET", "/api/v1", {}, None),
        ("GET", "/version", {}, None),
        ("GET", "/api/v1/pods/a/b/c/d", {}, None),
    ],
)  # fmt: skip
def test_a_path_is_a_verb_and_a_place(method, path, query, expected):
    assert route(method, path, query) == expected
