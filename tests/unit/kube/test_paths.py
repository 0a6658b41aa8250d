"""
Which right a path needs, as RBAC names it.
"""

import pytest

from reporter.kube.paths import names_object, right


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("/api/v1/namespaces/team-a/pods/qwen-0:5000/proxy/metrics", "get pods/proxy"),
        ("/api/v1/namespaces/team-a/pods/qwen-0/proxy", "get pods/proxy"),
        ("/api/v1/namespaces/team-a/pods/qwen-0", "get pods"),
        ("/apis/apps/v1/deployments", "list deployments.apps"),
    ],
)
def test_a_path_needs_this_right(path, needed):
    assert right("GET", path) == needed


def test_what_a_pod_serves_is_about_an_object():
    assert names_object("/api/v1/namespaces/team-a/pods/qwen-0:5000/proxy/metrics")
