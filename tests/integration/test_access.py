"""
What an API server says of our rights.
"""

from datetime import timedelta

from reporter.embedded.faults import Answer, Hang
from reporter.embedded.server import EmbeddedServer
from reporter.kube.access import Grant, Right, review
from reporter.kube.client import Api
from tests.integration.test_elector import api, server


__all__ = ["api", "server"]

LIST = Right("list", "apps", "deployments")
CREATE = Right("create", "", "events", "kube-system")
SCALE = Right("get", "kaito.sh", "inferencesets/scale")


async def test_each_right_is_granted_or_missing(server: EmbeddedServer, api: Api):
    server.deny("list", "apps", "deployments")
    assert await review(api, [LIST, CREATE, SCALE, LIST]) == (
        (LIST, Grant.MISSING),
        (CREATE, Grant.GRANTED),
        (SCALE, Grant.GRANTED),
    )


async def test_a_review_that_fails_says_nothing_about_the_right(server: EmbeddedServer, api: Api):
    server.faults.add(Answer(503, b"no"), path="selfsubjectaccessreviews", times=1)
    grants = dict(await review(api, [LIST]))
    assert grants == {LIST: Grant.UNKNOWN}


async def test_a_review_that_hangs_ends_in_time(server: EmbeddedServer, api: Api):
    server.faults.add(Hang(), path="selfsubjectaccessreviews")
    rights = [Right(verb, "apps", "deployments") for verb in "abcdefghijklmnop"]
    grants = dict(await review(api, rights, within=timedelta(milliseconds=200)))
    assert grants == dict.fromkeys(rights, Grant.UNKNOWN)
