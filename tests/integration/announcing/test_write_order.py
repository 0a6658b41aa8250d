"""The order and the rate of many writes of Events."""

from datetime import timedelta

from devcluster.http.faults.rules import (
    status_response,
)
from devcluster.server import DevCluster
from reporter.announcing.event_plan import EventPlan
from reporter.kube.client import RestClient
from tests.integration.announcing.publisher_fixture import (
    ALL,
    BBR,
    ISTIO,
    MANY,
    MODELS,
    PODS_OF,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import an_active_verdict


__all__ = ["api", "server"]


async def test_a_burst_and_then_ten_a_second_causes_first(server: DevCluster, api: RestClient):
    async with running_publisher(
        server, api, catalogue=MANY, subjects=MODELS, settings=ALL
    ) as fixture:
        fixture.set_verdicts(
            *(an_active_verdict(key) for key in PODS_OF),
            an_active_verdict(BBR),
            an_active_verdict(ISTIO),
        )
        await fixture.until(lambda: fixture.writes == 50)
        await fixture.wait_idle()
        assert (fixture.writes, fixture.results) == (50, {"created": 50})
        assert {"clusterIstio x1", "clusterBBR x1"} <= set(fixture.event_counts)
        fixture.advance(1)
        await fixture.until(lambda: fixture.writes == 60)
        await fixture.wait_idle()
        assert fixture.writes == 60
        fixture.advance(2)
        await fixture.until(lambda: len(fixture.event_counts) == 72)


async def test_a_cause_that_could_not_be_written_is_tried_again_before_the_rest(
    server: DevCluster, api: RestClient
):
    first = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(first, method="POST", path="events", times=EventPlan.rate.in_flight)
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as fixture:
        fixture.verdicts.update({key: an_active_verdict(key) for key in (*PODS_OF, ISTIO)})
        fixture.run_pass()
        await fixture.until(lambda: fixture.writes == 50)
        await fixture.wait_idle()
        assert "clusterIstio x1" not in fixture.event_counts
        fixture.clock.advance(1.1)
        await fixture.until(lambda: fixture.writes >= 60)
        await fixture.wait_idle()
        assert "clusterIstio x1" in fixture.event_counts


async def test_what_cleared_before_its_write_started_is_not_written(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as fixture:
        fixture.set_verdicts(*(an_active_verdict(key) for key in PODS_OF))
        await fixture.until(lambda: fixture.writes == 50)
        await fixture.wait_idle()
        fixture.set_clear(*PODS_OF[50:])
        fixture.advance(5)
        await fixture.wait_idle()
        assert fixture.writes == 50


async def test_a_clock_that_is_set_back_does_not_stop_the_tokens(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as fixture:
        fixture.clock.advance(timedelta(hours=-1))
        fixture.set_verdicts(*(an_active_verdict(key) for key in PODS_OF))
        await fixture.until(lambda: fixture.writes == 50)
        fixture.advance(3)
        await fixture.until(lambda: len(fixture.event_counts) == 70)


async def test_what_cleared_before_its_retry_is_not_written_and_gets_no_ready(
    server: DevCluster, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["failed"] == 1)
        fixture.set_clear(BBR)
        fixture.advance(120)
        await fixture.wait_idle()
        assert (fixture.event_counts, fixture.writes) == ([], 1)
