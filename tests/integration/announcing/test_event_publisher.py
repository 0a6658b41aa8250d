"""The publisher against an API server: announced, rewritten, repeated, closed."""

from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from tests.integration.announcing.publisher_fixture import (
    BBR,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_trouble, an_active_verdict


__all__ = ["api", "server"]


async def test_the_first_announcement_is_one_event_in_kube_system(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        await fixture.wait_idle()
        (event,) = fixture.events
        assert event["message"] == "Thing thing is broken. Platform: look at it."
        assert (event["type"], event["involvedObject"]["kind"]) == ("Warning", "Namespace")
        assert fixture.results == {"created": 1}


async def test_another_cause_rewrites_the_same_event(server: DevCluster, api: RestClient):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
        await fixture.wait_for_events("clusterBBR x1")
        (before,) = fixture.events
        fixture.advance(5)
        fixture.set_verdicts(an_active_verdict(BBR, a_trouble(code="Unavailable")))
        await fixture.wait_for_events("clusterBBR x2")
        (after,) = fixture.events
        assert after["metadata"]["name"] == before["metadata"]["name"]
        assert after["series"]["count"] == 2
        assert fixture.results == {"created": 1, "patched": 1}


async def test_what_lasts_is_written_again_at_the_heartbeat(server: DevCluster, api: RestClient):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        fixture.advance(269)
        await fixture.wait_idle()
        assert fixture.event_counts == ["clusterBBR x1"]
        fixture.advance(62)
        await fixture.wait_for_events("clusterBBR x2")


async def test_a_recovery_is_one_ready_and_no_write_of_the_warning(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        fixture.set_clear(BBR)
        fixture.advance(29)
        await fixture.wait_idle()
        assert fixture.event_counts == ["clusterBBR x1"]
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x1", "clusterReady x1")
        fixture.advance(400)
        await fixture.wait_idle()
        assert fixture.results == {"created": 2}


async def test_an_event_that_expired_is_created_anew_and_keeps_its_count(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        (before,) = fixture.events
        name = before["metadata"]["name"]
        server.cluster.delete("events", "kube-system", name)
        fixture.advance(331)
        await fixture.wait_for_events("clusterBBR x2")
        (after,) = fixture.events
        assert after["metadata"]["name"] == name
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        assert after["eventTime"][:19] == after["lastTimestamp"][:19]
        assert after["firstTimestamp"] == after["lastTimestamp"] > before["firstTimestamp"]
        assert fixture.results == {"created": 2, "expired": 1}
        fixture.set_clear(BBR)
        fixture.advance(31)
        await fixture.wait_for_events("clusterBBR x2", "clusterReady x1")
