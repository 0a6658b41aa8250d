"""
The RBAC permission that a request needs.
"""

import pytest

from reporter.kube.wire.paths import is_object_path, required_permission


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


def test_what_a_pod_serves_is_about_an_object():
    assert is_object_path("/api/v1/namespaces/team-a/pods/qwen-0:5000/proxy/metrics")
