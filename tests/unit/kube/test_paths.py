"""The RBAC permission that a request needs."""

from dataclasses import replace

import pytest

from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kube.paths import (
    collection_path,
    is_object_path,
    request_verb,
    required_permission,
)


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("/api/v1/namespaces/team-a/pods/qwen-0:5000/proxy/metrics", "get pods/proxy"),
        ("/api/v1/namespaces/team-a/pods/qwen-0/proxy", "get pods/proxy"),
        ("/api/v1/namespaces/team-a/pods/qwen-0", "get pods"),
        ("/apis/apps/v1/deployments", "list deployments.apps"),
    ],
)
def test_a_path_needs_this_permission(path, needed):
    assert required_permission("GET", path) == needed


@pytest.mark.parametrize(
    ("method", "path", "query", "verb"),
    [
        ("GET", "/api/v1/pods", [("limit", "500")], "list"),
        ("GET", "/api/v1/pods", [("watch", "true")], "watch"),
        ("GET", "/api/v1/namespaces/team-a/pods/qwen-0", [], "get"),
        ("GET", "/apis", [], "get"),
        ("POST", "/api/v1/namespaces/kube-system/events", [], "create"),
        ("PATCH", "/api/v1/namespaces/kube-system/events/x", [], "patch"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/x", [], "update"),
        ("DELETE", "/apis/a.b/v1/namespaces/a/things/x", [], "delete"),
    ],
)
def test_a_request_has_the_verb_of_the_audit_log(method, path, query, verb):
    assert request_verb(method, path, query) == verb


def test_what_a_pod_serves_is_about_an_object():
    assert is_object_path("/api/v1/namespaces/team-a/pods/qwen-0:5000/proxy/metrics")


def test_a_kind_of_one_namespace_is_listed_there():
    root = "/apis/reporter.productionstack.kaito.sh/v1alpha1"
    kept = replace(HEALTH_EVENTS, namespace="stack")
    assert collection_path(HEALTH_EVENTS, "v1alpha1") == f"{root}/healthevents"
    assert collection_path(kept, "v1alpha1") == f"{root}/namespaces/stack/healthevents"
