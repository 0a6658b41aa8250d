"""Writes of Events that the API server refuses, throttles or leaves without an answer."""

import msgspec
import pytest

from devcluster.http.faults.rules import (
    FaultResponse,
    Hang,
    bad_gateway_response,
    overloaded_response,
    rate_limited_response,
    status_response,
)
from devcluster.schema.api_errors import FieldError, invalid
from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from tests.integration.announcing.publisher_fixture import (
    ALL,
    BBR,
    ISTIO,
    KAITO,
    MANY,
    MODELS,
    PODS_OF,
    lines,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import an_active_verdict


__all__ = ["api", "server"]

QUOTA = (
    'events "kube-system.1" is forbidden: exceeded quota: few, requested: count/events=1,'
    " used: count/events={used}, limited: count/events=5"
)


def quota(used: int) -> FaultResponse:
    return status_response(403, "Forbidden", QUOTA.format(used=used))


# ------------------------------------------------------------ refused


async def test_what_is_never_accepted_is_logged_counted_and_dropped(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    error = invalid("", "Event", "x", [FieldError("message", "too long")])
    body = msgspec.json.encode(error.status)
    invalid_event = FaultResponse(422, body, {"Content-Type": "application/json"})
    server.faults.add(invalid_event, method="POST", path="events", times=1)
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS[:1]) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["dropped"] == 1)
        fixture.advance(120)
        await fixture.wait_idle()
        assert (fixture.event_counts, fixture.writes, fixture.results) == ([], 1, {"dropped": 1})
        assert len(lines(caplog, "message: too long")) == 1
        fixture.set_verdicts(an_active_verdict(PODS_OF[0]))
        await fixture.wait_for_events("inferencesetPods x1")
        fixture.set_clear(BBR)
        fixture.advance(31)
        await fixture.wait_idle()
        assert fixture.event_counts == ["inferencesetPods x1"]


async def test_a_missing_permission_is_logged_once_counted_each_time_and_retried(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("create", "", "events", "kube-system")
    async with running_publisher(server, api, settings=ALL) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
        for number in range(1, 5):
            await fixture.wait_for_result("refused", 2 * number)
            fixture.advance(61)
        assert len(lines(caplog, "cannot create")) == 2
        server.allow(denial)
        fixture.advance(61)
        await fixture.wait_for_events("clusterBBR x1", "clusterIstio x1")
        server.deny("patch", "", "events", "kube-system")
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["refused"] > 8)
        await fixture.wait_idle()
        assert len(lines(caplog, "cannot patch")) == 2


async def test_a_permission_that_is_lost_again_is_logged_again(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("patch", "", "events", "kube-system")
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["refused"] > 0)
        server.allow(denial)
        fixture.advance(61)
        await fixture.wait_for_events("clusterBBR x2")
        refused = fixture.results["refused"]
        server.deny("patch", "", "events", "kube-system")
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["refused"] > refused)
        assert len(lines(caplog, "cannot patch")) == 2


async def test_a_missing_permission_is_logged_once_whatever_is_written_without_it(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    server.deny("patch", "", "events", "kube-system")
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS[:2]) as fixture:
        fixture.set_verdicts(an_active_verdict(PODS_OF[0]))
        await fixture.wait_for_events("inferencesetPods x1")
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["refused"] > 0)
        fixture.set_verdicts(an_active_verdict(PODS_OF[1]))
        await fixture.wait_for_events("inferencesetPods x1", "inferencesetPods x1")
        refused = fixture.results["refused"]
        fixture.advance(61)
        await fixture.until(lambda: fixture.results["refused"] > refused)
        assert len(lines(caplog, "cannot patch")) == 1


async def test_a_full_quota_whose_numbers_change_is_logged_once_and_waited_for(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with running_publisher(server, api) as fixture:
        for number, used in enumerate((5, 7, 9), start=1):
            fault = server.faults.add(quota(used), method="POST", path="events")
            fixture.set_verdicts(an_active_verdict(BBR))
            await fixture.wait_for_result("refused", number)
            server.faults.clear(fault)
            fixture.clock.advance(10)
        fixture.run_pass()
        await fixture.wait_for_events("clusterBBR x1")
        assert fixture.results == {"refused": 3, "created": 1}
        assert len(lines(caplog, "exceeded quota")) == 1


# ------------------------------------------------------------ throttled, failing and hanging


@pytest.mark.parametrize(
    "trouble",
    [
        rate_limited_response(),
        overloaded_response(5),
        FaultResponse(
            429,
            b"Too many requests, please try again later.\n",
            {"Content-Type": "text/plain", "Retry-After": "5", "Connection": "close"},
        ),
    ],
    ids=["a Status", "text with Retry-After", "and closed"],
)
async def test_what_is_throttled_waits_for_its_retry_after(
    server: DevCluster, api: RestClient, trouble: FaultResponse
):
    server.faults.add(trouble, method="POST", path="events", times=1)
    pause = 5.0 if "Retry-After" in trouble.headers else 1.0
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["throttled"] == 1)
        fixture.advance(pause - 0.1)
        await fixture.wait_idle()
        assert fixture.writes == 1
        fixture.advance(0.2)
        await fixture.wait_for_events("clusterBBR x1")
        assert fixture.results == {"throttled": 1, "created": 1}


@pytest.mark.parametrize(
    ("trouble", "pauses"),
    [
        (status_response(500, "InternalError", "etcdserver: request timed out"), (1, 2)),
        (status_response(503, "ServiceUnavailable", "unable"), (1, 2, 4, 8, 16, 32, 60, 60)),
        (bad_gateway_response(), (1, 2)),
    ],
    ids=["500", "503", "502 of a balancer"],
)
async def test_a_failing_server_gets_ever_fewer_requests(
    server: DevCluster,
    api: RestClient,
    trouble: FaultResponse,
    pauses: tuple[int, ...],
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level("INFO")
    fault = server.faults.add(trouble, method="POST", path="events")
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        for number, pause in enumerate(pauses, start=1):
            await fixture.wait_for_writes(number)
            await fixture.wait_idle()
            fixture.clock.advance(pause - 0.1)
            fixture.run_pass()
            await fixture.wait_idle()
            assert fixture.writes == number
            fixture.clock.advance(0.2)
            fixture.run_pass()
        server.faults.clear(fault)
        fixture.advance(61)
        await fixture.wait_for_events("clusterBBR x1")
    assert len(lines(caplog, "create event ")) == 1
    assert len(lines(caplog, "failed tries")) == 1


async def test_a_finding_that_recurs_after_failed_writes_has_no_backoff_left(
    server: DevCluster, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=4)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        for number in (1, 2, 3):
            await fixture.wait_for_result("failed", number)
            fixture.advance(number * 2 if number < 3 else 0)
        fixture.set_clear(BBR)
        fixture.advance(60)
        await fixture.wait_idle()
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_result("failed", 4)
        fixture.advance(1.1)
        await fixture.wait_for_events("clusterBBR x1")


async def test_a_write_that_hangs_delays_no_other(server: DevCluster, api: RestClient):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api, settings=ALL) as fixture:
        fixture.set_verdicts(
            an_active_verdict(ISTIO), an_active_verdict(BBR), an_active_verdict(KAITO)
        )
        await fixture.until(lambda: len(fixture.event_counts) == 2)
        await fixture.wait_idle()
        assert fixture.results == {"created": 2}
        server.faults.clear()
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x1", "clusterIstio x1", "clusterKaito x1")


async def test_a_write_that_hangs_delays_no_pass(server: DevCluster, api: RestClient):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.writes == 1)
        calls: list[None] = []
        fixture.announcements.changes.subscribe(lambda: calls.append(None))
        fixture.set_verdicts(an_active_verdict(ISTIO))
        assert calls
        await fixture.until(lambda: fixture.event_counts == ["clusterIstio x1"])


async def test_no_answer_puts_a_write_off_for_more_than_a_minute(
    server: DevCluster, api: RestClient
):
    hour = {"Retry-After": "3600"}
    busy = status_response(503, "ServiceUnavailable", "unable", hour)
    server.faults.add(busy, method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_result("failed", 1)
        fixture.advance(59)
        await fixture.wait_idle()
        assert fixture.event_counts == []
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x1")
