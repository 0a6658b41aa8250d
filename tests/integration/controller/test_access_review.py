"""The API server's answer to a review of our permissions."""

from datetime import timedelta

from devcluster.http.faults.rules import FaultResponse, Hang
from devcluster.server import DevCluster
from reporter.kube.access_review import Permission, PermissionStatus, review_permissions
from reporter.kube.client import RestClient
from tests.integration.kube.test_elector import api, server


__all__ = ["api", "server"]

LIST = Permission("list", "apps", "deployments")
CREATE = Permission("create", "", "events", "kube-system")
SCALE = Permission("get", "kaito.sh", "inferencesets/scale")


async def test_each_right_is_granted_or_missing(server: DevCluster, api: RestClient):
    server.deny("list", "apps", "deployments")
    assert await review_permissions(api, [LIST, CREATE, SCALE, LIST]) == (
        (LIST, PermissionStatus.MISSING),
        (CREATE, PermissionStatus.GRANTED),
        (SCALE, PermissionStatus.GRANTED),
    )


async def test_a_review_that_fails_leaves_the_permission_unknown(
    server: DevCluster, api: RestClient
):
    server.faults.add(FaultResponse(503, b"no"), path="selfsubjectaccessreviews", times=1)
    grants = dict(await review_permissions(api, [LIST]))
    assert grants == {LIST: PermissionStatus.UNKNOWN}


async def test_a_review_that_hangs_ends_in_time(server: DevCluster, api: RestClient):
    server.faults.add(Hang(), path="selfsubjectaccessreviews")
    rights = [Permission(verb, "apps", "deployments") for verb in "abcdefghijklmnop"]
    grants = dict(await review_permissions(api, rights, time_limit=timedelta(milliseconds=200)))
    assert grants == dict.fromkeys(rights, PermissionStatus.UNKNOWN)
