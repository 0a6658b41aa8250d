"""The publisher continues the Events that were written before it started."""

import pytest

from devcluster.http.faults.rules import (
    CutConnection,
    FaultResponse,
    status_response,
    truncated_response,
)
from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from reporter.model.enums import TroubleKind
from tests.integration.announcing.publisher_fixture import (
    BBR,
    ManualClock,
    lines,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_trouble, an_active_verdict


__all__ = ["api", "server"]


@pytest.mark.parametrize(
    "trouble",
    [
        status_response(503, "ServiceUnavailable", "unable"),
        status_response(401, "Unauthorized", "Unauthorized"),
        FaultResponse(403, b"<html>Forbidden</html>", {"Content-Type": "text/html"}),
        CutConnection(),
        truncated_response(),
    ],
    ids=["503", "401", "403 of a proxy", "cut", "half of it"],
)
async def test_nothing_is_announced_until_earlier_events_are_read_back(
    server: DevCluster, api: RestClient, trouble
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(5)
    fault = server.faults.add(trouble, method="GET", path="events")
    async with running_publisher(server, api, clock=clock) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fault.hits >= 1)
        await fixture.wait_idle()
        assert (fixture.event_counts, fixture.writes) == (["clusterBBR x1"], 1)
        server.faults.clear(fault)
        fixture.advance(331)
        await fixture.wait_for_events("clusterBBR x2")


async def test_no_answer_puts_the_reading_back_off_for_more_than_a_minute(
    server: DevCluster, api: RestClient
):
    hour = {"Retry-After": "3600"}
    busy = status_response(503, "ServiceUnavailable", "unable", hour)
    server.faults.add(busy, method="GET", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        await fixture.until(lambda: bool(fixture.plan.waiting_for))
        assert "Events, which are read again after 60 s" in fixture.plan.waiting_for


async def test_without_permission_to_read_events_it_announces_anew(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    server.deny("list", "", "events", "kube-system")
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        (line,) = lines(caplog, "list events")
        assert "tried again" not in line


async def test_a_restart_writes_nothing_continues_the_count_and_closes_with_ready(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(20)
    async with running_publisher(server, api, clock=clock) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_idle()
        assert fixture.writes == 1
        fixture.advance(331)
        await fixture.wait_for_events("clusterBBR x2")
        fixture.set_clear(BBR)
        fixture.advance(31)
        await fixture.wait_for_events("clusterBBR x2", "clusterReady x1")
        assert fixture.results == {"patched": 1, "created": 1}


async def test_what_cleared_over_a_restart_gets_its_ready_and_no_other_write(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(20)
    async with running_publisher(server, api, clock=clock) as fixture:
        await fixture.wait_idle()
        fixture.advance(29)
        await fixture.wait_idle()
        assert fixture.event_counts == ["clusterBBR x1"]
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x1", "clusterReady x1")
        assert fixture.results == {"created": 1}


async def test_a_leader_that_returns_continues_the_events_of_the_other(
    server: DevCluster, api: RestClient
):
    clock = ManualClock()
    async with running_publisher(server, api, clock=clock) as mine:
        mine.leadership.release()
        async with running_publisher(server, api, clock=clock) as other:
            other.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.DECLARED)))
            await other.wait_for_events("clusterBBR x1")
        clock.advance(10)
        mine.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.DECLARED)))
        mine.leadership.acquire()
        mine.advance(331)
        await mine.wait_for_events("clusterBBR x2")
        assert mine.results == {"patched": 1}
