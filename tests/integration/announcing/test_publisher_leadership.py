"""Events are written only by the process that holds the lease at that moment."""

import asyncio
import socket

from devcluster.http.faults.rules import (
    Hang,
    status_response,
)
from devcluster.server import DevCluster
from reporter.announcing.announcement_state import AnnouncementState
from reporter.kube.client import RestClient
from reporter.kube.event_record import EventRecord
from reporter.kube.events import EventClient
from tests.integration.announcing.publisher_fixture import (
    BBR,
    ISTIO,
    KAITO,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import an_active_verdict
from tests.support.stall_free_loop import take_seconds


__all__ = ["api", "server"]


async def test_nothing_is_written_once_leadership_is_lost(server: DevCluster, api: RestClient):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["failed"] == 1)
        fixture.leadership.release()
        fixture.advance(120)
        fixture.set_verdicts(an_active_verdict(ISTIO))
        await fixture.wait_idle()
        assert (fixture.event_counts, fixture.writes) == ([], 1)
        fixture.leadership.acquire()
        await fixture.wait_for_events("clusterIstio x1")


async def test_a_new_leadership_starts_without_backoffs(server: DevCluster, api: RestClient):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_result("failed", 1)
        fixture.leadership.release()
        await fixture.wait_idle()
        fixture.leadership.acquire()
        await fixture.wait_for_events("clusterBBR x1")


async def test_a_write_in_flight_is_cancelled_when_leadership_is_lost(
    server: DevCluster, api: RestClient
):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.writes == 1)
        fixture.leadership.release()
        fixture.leadership.acquire()
        await fixture.wait_for_events("clusterBBR x1")


async def test_a_lease_that_is_not_valid_writes_nothing_and_does_not_spin(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        await fixture.wait_idle()
        fixture.leadership.firm = lambda: False
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_idle()
        assert fixture.writes == 0
        assert fixture.leadership.checks < 5
        fixture.leadership.firm = lambda: True
        await fixture.wait_for_events("clusterBBR x1")


async def test_a_lease_lost_just_before_the_request_writes_nothing(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        await fixture.wait_idle()
        checks = fixture.leadership.checks
        fixture.leadership.firm = lambda: fixture.leadership.checks <= checks + 1
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_idle()
        assert fixture.leadership.checks > checks + 1
        assert fixture.writes == 0


class SlowEventClient(EventClient):
    """Connects only once a byte arrives at its socket."""

    def __init__(self, api: RestClient) -> None:
        super().__init__(api, "reporter-0")
        self.near, self.far = socket.socketpair()
        self.near.setblocking(False)
        self.connecting = asyncio.Event()

    async def create(self, record: EventRecord) -> None:
        self.connecting.set()
        await asyncio.get_running_loop().sock_recv(self.near, 1)
        await super().create(record)


async def test_a_process_that_was_paused_while_it_connected_sends_nothing_when_it_wakes(
    server: DevCluster, api: RestClient
):
    sink = SlowEventClient(api)
    async with running_publisher(server, api, sink=sink) as fixture:
        await fixture.wait_idle()
        fixture.leadership.until = asyncio.get_running_loop().time() + 60
        fixture.set_verdicts(an_active_verdict(BBR))
        await sink.connecting.wait()
        sink.far.send(b".")
        take_seconds(61)  # as a process that is stopped
        await fixture.wait_idle()
        assert fixture.writes == 0
    sink.near.close()
    sink.far.close()


async def test_a_lease_lost_between_two_requests_of_one_write_ends_it(
    server: DevCluster, api: RestClient
):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        server.cluster.delete("events", "kube-system", fixture.events[0]["metadata"]["name"])
        fixture.leadership.firm = lambda: fixture.requests("PATCH") == 0
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["expired"] == 1)
        await fixture.wait_idle()
        assert (fixture.event_counts, fixture.requests("POST")) == ([], 1)


async def test_a_follower_evaluates_and_writes_nothing(server: DevCluster, api: RestClient):
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(KAITO))
        await fixture.wait_for_events("clusterKaito x1")
        fixture.leadership.release()
        await fixture.wait_idle()
        assert fixture.announcements.state == AnnouncementState()
        before = len(list(server.requests))
        fixture.set_verdicts(an_active_verdict(BBR))
        fixture.advance(600)
        await fixture.wait_idle()
        assert BBR in fixture.controller.evaluation.tracked.finding_states
        assert len(list(server.requests)) == before
