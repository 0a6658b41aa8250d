"""
What the speaker makes of an API server that answers, refuses, throttles, hangs and is cut off.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from reporter.embedded.http.faults.faults import (
    CutConnection,
    FaultResponse,
    Hang,
    bad_gateway_response,
    overloaded_response,
    rate_limited_response,
    status_response,
    truncated_response,
)
from reporter.embedded.kubeconfig import render_kubeconfig
from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import RestClient, connect
from reporter.kube.objects.events import EventClient
from reporter.model.enums import Emission, Layer, TroubleKind
from reporter.model.event_record import EventRecord
from reporter.model.subjects import Subject
from reporter.runtime.announcing.publisher import MAX_CONCURRENT_WRITES
from reporter.stages.announcing.announcement_state import AnnouncementState
from reporter.stages.evaluation.evaluation import EvaluationSettings
from tests.integration.publisher_fixture import (
    BBR,
    ISTIO,
    KAITO,
    LossyConnection,
    ManualClock,
    ShortTimeoutApi,
    a_lossy_connection,
    running_publisher,
)
from tests.integration.test_elector import api, server
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry


__all__ = ["api", "server"]

ALL = EvaluationSettings(emission=Emission.ALL)
QUOTA = (
    'events "kube-system.1" is forbidden: exceeded quota: few, requested: count/events=1,'
    " used: count/events={used}, limited: count/events=5"
)


def lines(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    return [line for line in map(str, (r.getMessage() for r in caplog.records)) if word in line]


def quota(used: int) -> FaultResponse:
    return status_response(403, "Forbidden", QUOTA.format(used=used))


# ------------------------------------------------------------ said, and said again


async def test_the_first_announcement_is_one_event_in_kube_system(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        await scene.wait_idle()
        (event,) = scene.events
        assert event["message"] == "Thing thing is broken. Platform: look at it."
        assert (event["type"], event["involvedObject"]["kind"]) == ("Warning", "Namespace")
        assert scene.results == {"created": 1}


async def test_another_cause_rewrites_the_same_event(server: EmbeddedServer, api: RestClient):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
        await scene.wait_for_events("clusterBBR x1")
        (before,) = scene.events
        scene.advance(5)
        scene.set_verdicts(an_active_verdict(BBR, a_trouble(code="Unavailable")))
        await scene.wait_for_events("clusterBBR x2")
        (after,) = scene.events
        assert after["metadata"]["name"] == before["metadata"]["name"]
        assert after["series"]["count"] == 2
        assert scene.results == {"created": 1, "patched": 1}


async def test_what_lasts_is_said_again_at_the_heartbeat(server: EmbeddedServer, api: RestClient):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        scene.advance(269)
        await scene.wait_idle()
        assert scene.event_counts == ["clusterBBR x1"]
        scene.advance(62)
        await scene.wait_for_events("clusterBBR x2")


async def test_a_recovery_is_one_ready_and_no_write_of_the_warning(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        scene.set_clear(BBR)
        scene.advance(29)
        await scene.wait_idle()
        assert scene.event_counts == ["clusterBBR x1"]
        scene.advance(2)
        await scene.wait_for_events("clusterBBR x1", "clusterReady x1")
        scene.advance(400)
        await scene.wait_idle()
        assert scene.results == {"created": 2}


async def test_an_event_that_expired_is_created_anew_and_keeps_its_count(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        (before,) = scene.events
        name = before["metadata"]["name"]
        server.cluster.delete("events", "kube-system", name)
        scene.advance(331)
        await scene.wait_for_events("clusterBBR x2")
        (after,) = scene.events
        assert after["metadata"]["name"] == name
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        assert after["eventTime"][:19] == after["lastTimestamp"][:19]
        assert after["firstTimestamp"] == after["lastTimestamp"] > before["firstTimestamp"]
        assert scene.results == {"created": 2, "expired": 1}
        scene.set_clear(BBR)
        scene.advance(31)
        await scene.wait_for_events("clusterBBR x2", "clusterReady x1")


# ------------------------------------------------------------ answers that were lost


@pytest_asyncio.fixture
async def lossy_connection(server: EmbeddedServer) -> AsyncIterator[LossyConnection]:
    async with a_lossy_connection(server) as wire:
        yield wire


@pytest_asyncio.fixture
async def lossy_api(
    lossy_connection: LossyConnection, tmp_path: Path
) -> AsyncIterator[RestClient]:
    """
    A client at the other end of the wire.
    """
    path = tmp_path / "wired"
    path.write_text(
        render_kubeconfig(f"http://127.0.0.1:{lossy_connection.port}", None), encoding="utf-8"
    )
    api = await connect(str(path), environ={})
    yield api
    await api.close()


@pytest.mark.parametrize("mute", [False, True], ids=["cut", "timed out"])
async def test_a_create_that_arrived_without_an_answer_is_one_event(
    server: EmbeddedServer, lossy_connection: LossyConnection, lossy_api: RestClient, mute: bool
):
    book = EventClient(ShortTimeoutApi(lossy_api), "reporter-0")
    async with running_publisher(server, lossy_api, book=book) as scene:
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events", mute=mute)
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["uncertain"] == 1)
        assert (lossy_connection.lost, scene.event_counts) == (1, ["clusterBBR x1"])
        scene.advance(2)
        await scene.until(lambda: scene.results["found"] == 1)
        await scene.wait_idle()
        assert scene.event_counts == ["clusterBBR x1"]
        scene.set_clear(BBR)
        scene.advance(31)
        await scene.wait_for_events("clusterBBR x1", "clusterReady x1")
        assert scene.results == {"uncertain": 1, "found": 1, "created": 1}


async def test_what_changed_before_the_lost_create_is_repeated_is_patched_once(
    server: EmbeddedServer, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as scene:
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events")
        scene.set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
        await scene.until(lambda: scene.results["uncertain"] == 1)
        scene.set_verdicts(an_active_verdict(BBR, a_trouble("another")))
        scene.advance(2)
        await scene.wait_for_events("clusterBBR x2")
        (event,) = scene.events
        assert event["message"].startswith("Thing another is broken.")
        assert scene.results == {"uncertain": 1, "patched": 1}


async def test_a_patch_that_arrived_without_an_answer_counts_once(
    server: EmbeddedServer, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        lossy_connection.lose_answers(1, rb"PATCH ")
        scene.advance(331)
        await scene.until(lambda: scene.results["uncertain"] == 1)
        assert scene.event_counts == ["clusterBBR x2"]
        scene.advance(2)
        await scene.until(lambda: scene.results["patched"] == 1)
        assert scene.event_counts == ["clusterBBR x2"]


async def test_a_ready_that_arrived_without_an_answer_is_one_event(
    server: EmbeddedServer, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events")
        scene.set_clear(BBR)
        scene.advance(31)
        await scene.until(lambda: scene.results["uncertain"] == 1)
        scene.advance(2)
        await scene.until(lambda: scene.results["found"] == 1)
        scene.advance(600)
        await scene.wait_idle()
        assert scene.event_counts == ["clusterBBR x1", "clusterReady x1"]


async def test_a_create_that_was_cut_off_before_it_arrived_is_sent_again(
    server: EmbeddedServer, api: RestClient
):
    server.faults.add(CutConnection(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["uncertain"] == 1)
        scene.advance(2)
        await scene.wait_for_events("clusterBBR x1")
        assert scene.results == {"uncertain": 1, "created": 1}


# ------------------------------------------------------------ refusals


async def test_what_is_refused_for_ever_is_logged_counted_and_dropped(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    invalid = status_response(422, "Invalid", 'Event "x" is invalid: message: too long')
    server.faults.add(invalid, method="POST", path="events", times=1)
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS[:1]) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["dropped"] == 1)
        scene.advance(120)
        await scene.wait_idle()
        assert (scene.event_counts, scene.writes, scene.results) == ([], 1, {"dropped": 1})
        assert len(lines(caplog, "message: too long")) == 1
        scene.set_verdicts(an_active_verdict(PODS_OF[0]))
        await scene.wait_for_events("inferencesetPods x1")
        scene.set_clear(BBR)
        scene.advance(31)
        await scene.wait_idle()
        assert scene.event_counts == ["inferencesetPods x1"]


async def test_a_missing_right_is_logged_once_counted_each_time_and_stays_due(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("create", "", "events", "kube-system")
    async with running_publisher(server, api, terms=ALL) as scene:
        scene.set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
        for number in range(1, 5):
            await scene.wait_for_result("refused", 2 * number)
            scene.advance(61)
        assert len(lines(caplog, "cannot create")) == 2
        server.allow(denial)
        scene.advance(61)
        await scene.wait_for_events("clusterBBR x1", "clusterIstio x1")
        server.deny("patch", "", "events", "kube-system")
        scene.advance(331)
        await scene.until(lambda: scene.results["refused"] > 8)
        await scene.wait_idle()
        assert len(lines(caplog, "cannot patch")) == 2


async def test_a_right_that_is_lost_again_is_logged_again(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("patch", "", "events", "kube-system")
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        scene.advance(331)
        await scene.until(lambda: scene.results["refused"] > 0)
        server.allow(denial)
        scene.advance(61)
        await scene.wait_for_events("clusterBBR x2")
        refused = scene.results["refused"]
        server.deny("patch", "", "events", "kube-system")
        scene.advance(331)
        await scene.until(lambda: scene.results["refused"] > refused)
        assert len(lines(caplog, "cannot patch")) == 2


async def test_a_missing_right_is_logged_once_whatever_is_written_without_it(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    server.deny("patch", "", "events", "kube-system")
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS[:2]) as scene:
        scene.set_verdicts(an_active_verdict(PODS_OF[0]))
        await scene.wait_for_events("inferencesetPods x1")
        scene.advance(331)
        await scene.until(lambda: scene.results["refused"] > 0)
        scene.set_verdicts(an_active_verdict(PODS_OF[1]))
        await scene.wait_for_events("inferencesetPods x1", "inferencesetPods x1")
        refused = scene.results["refused"]
        scene.advance(61)
        await scene.until(lambda: scene.results["refused"] > refused)
        assert len(lines(caplog, "cannot patch")) == 1


async def test_a_full_quota_whose_numbers_change_is_logged_once_and_waited_for(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with running_publisher(server, api) as scene:
        for number, used in enumerate((5, 7, 9), start=1):
            fault = server.faults.add(quota(used), method="POST", path="events")
            scene.set_verdicts(an_active_verdict(BBR))
            await scene.wait_for_result("refused", number)
            server.faults.clear(fault)
            scene.clock.advance(10)
        scene.run_pass()
        await scene.wait_for_events("clusterBBR x1")
        assert scene.results == {"refused": 3, "created": 1}
        assert len(lines(caplog, "exceeded quota")) == 1


# ------------------------------------------------------------ too much, and nothing at all


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
async def test_what_is_throttled_waits_as_long_as_it_is_told(
    server: EmbeddedServer, api: RestClient, trouble: FaultResponse
):
    server.faults.add(trouble, method="POST", path="events", times=1)
    pause = 5.0 if "Retry-After" in trouble.headers else 1.0
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["throttled"] == 1)
        scene.advance(pause - 0.1)
        await scene.wait_idle()
        assert scene.writes == 1
        scene.advance(0.2)
        await scene.wait_for_events("clusterBBR x1")
        assert scene.results == {"throttled": 1, "created": 1}


@pytest.mark.parametrize(
    ("trouble", "pauses"),
    [
        (status_response(500, "InternalError", "etcdserver: request timed out"), (1, 2)),
        (status_response(503, "ServiceUnavailable", "unable"), (1, 2, 4, 8, 16, 32, 60, 60)),
        (bad_gateway_response(), (1, 2)),
    ],
    ids=["500", "503", "502 of a balancer"],
)
async def test_a_server_in_trouble_is_asked_ever_less_often(
    server: EmbeddedServer,
    api: RestClient,
    trouble: FaultResponse,
    pauses: tuple[int, ...],
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level("INFO")
    fault = server.faults.add(trouble, method="POST", path="events")
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        for number, pause in enumerate(pauses, start=1):
            await scene.wait_for_writes(number)
            await scene.wait_idle()
            scene.clock.advance(pause - 0.1)
            scene.run_pass()
            await scene.wait_idle()
            assert scene.writes == number
            scene.clock.advance(0.2)
            scene.run_pass()
        server.faults.clear(fault)
        scene.advance(61)
        await scene.wait_for_events("clusterBBR x1")
    assert len(lines(caplog, "create event ")) == 1
    assert len(lines(caplog, "failed tries")) == 1


async def test_what_comes_back_after_it_could_not_be_said_begins_anew(
    server: EmbeddedServer, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=4)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        for number in (1, 2, 3):
            await scene.wait_for_result("failed", number)
            scene.advance(number * 2 if number < 3 else 0)
        scene.set_clear(BBR)
        scene.advance(60)
        await scene.wait_idle()
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_result("failed", 4)
        scene.advance(1.1)
        await scene.wait_for_events("clusterBBR x1")


async def test_a_write_that_hangs_delays_no_other(server: EmbeddedServer, api: RestClient):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api, terms=ALL) as scene:
        scene.set_verdicts(
            an_active_verdict(ISTIO), an_active_verdict(BBR), an_active_verdict(KAITO)
        )
        await scene.until(lambda: len(scene.event_counts) == 2)
        await scene.wait_idle()
        assert scene.results == {"created": 2}
        server.faults.clear()
        await scene.until(lambda: scene.results["uncertain"] == 1)
        scene.advance(2)
        await scene.wait_for_events("clusterBBR x1", "clusterIstio x1", "clusterKaito x1")


async def test_a_write_that_hangs_delays_no_pass(server: EmbeddedServer, api: RestClient):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.writes == 1)
        scene.controller.pass_finished.clear()
        scene.set_verdicts(an_active_verdict(ISTIO))
        assert scene.controller.pass_finished.is_set()
        await scene.until(lambda: scene.event_counts == ["clusterIstio x1"])


# ------------------------------------------------------------ many


MODELS = tuple(Subject(Layer.MODELDEPLOYMENT, f"team-{i:02}", "qwen") for i in range(70))
PODS_OF = [a_key("inferencesetPods", subject) for subject in MODELS]
MANY = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
)


async def test_a_burst_and_then_ten_a_second_causes_first(server: EmbeddedServer, api: RestClient):
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS, terms=ALL) as scene:
        scene.set_verdicts(
            *(an_active_verdict(key) for key in PODS_OF),
            an_active_verdict(BBR),
            an_active_verdict(ISTIO),
        )
        await scene.until(lambda: scene.writes == 50)
        await scene.wait_idle()
        assert (scene.writes, scene.results) == (50, {"created": 50})
        assert {"clusterIstio x1", "clusterBBR x1"} <= set(scene.event_counts)
        scene.advance(1)
        await scene.until(lambda: scene.writes == 60)
        await scene.wait_idle()
        assert scene.writes == 60
        scene.advance(2)
        await scene.until(lambda: len(scene.event_counts) == 72)


async def test_a_cause_that_could_not_be_written_is_tried_again_before_the_rest(
    server: EmbeddedServer, api: RestClient
):
    first = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(first, method="POST", path="events", times=MAX_CONCURRENT_WRITES)
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as scene:
        scene.says.update({key: an_active_verdict(key) for key in (*PODS_OF, ISTIO)})
        scene.run_pass()
        await scene.until(lambda: scene.writes == 50)
        await scene.wait_idle()
        assert "clusterIstio x1" not in scene.event_counts
        scene.clock.advance(1.1)
        await scene.until(lambda: scene.writes >= 60)
        await scene.wait_idle()
        assert "clusterIstio x1" in scene.event_counts


async def test_what_healed_while_it_waited_its_turn_is_not_said(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as scene:
        scene.set_verdicts(*(an_active_verdict(key) for key in PODS_OF))
        await scene.until(lambda: scene.writes == 50)
        await scene.wait_idle()
        scene.set_clear(*PODS_OF[50:])
        scene.advance(5)
        await scene.wait_idle()
        assert scene.writes == 50


async def test_a_clock_that_is_set_back_does_not_stop_the_tokens(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api, catalogue=MANY, subjects=MODELS) as scene:
        scene.clock.advance(timedelta(hours=-1))
        scene.set_verdicts(*(an_active_verdict(key) for key in PODS_OF))
        await scene.until(lambda: scene.writes == 50)
        scene.advance(3)
        await scene.until(lambda: len(scene.event_counts) == 70)


async def test_what_healed_before_it_was_tried_again_is_not_said_and_owes_nothing(
    server: EmbeddedServer, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["failed"] == 1)
        scene.set_clear(BBR)
        scene.advance(120)
        await scene.wait_idle()
        assert (scene.event_counts, scene.writes) == ([], 1)


# ------------------------------------------------------------ the lead


async def test_nothing_is_written_once_the_lead_was_lost(server: EmbeddedServer, api: RestClient):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.results["failed"] == 1)
        scene.leadership.release()
        scene.advance(120)
        scene.set_verdicts(an_active_verdict(ISTIO))
        await scene.wait_idle()
        assert (scene.event_counts, scene.writes) == ([], 1)
        scene.leadership.acquire()
        await scene.wait_for_events("clusterIstio x1")


async def test_a_new_lead_does_not_wait_for_the_failures_of_the_last(
    server: EmbeddedServer, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_result("failed", 1)
        scene.leadership.release()
        await scene.wait_idle()
        scene.leadership.acquire()
        await scene.wait_for_events("clusterBBR x1")


async def test_a_write_under_way_is_cut_when_the_lead_is_lost(
    server: EmbeddedServer, api: RestClient
):
    server.faults.add(Hang(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: scene.writes == 1)
        scene.leadership.release()
        scene.leadership.acquire()
        await scene.wait_for_events("clusterBBR x1")


async def test_a_lead_that_no_longer_stands_writes_nothing_and_does_not_spin(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        await scene.wait_idle()
        scene.leadership.firm = lambda: False
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_idle()
        assert scene.writes == 0
        assert scene.leadership.asked < 5
        scene.leadership.firm = lambda: True
        await scene.wait_for_events("clusterBBR x1")


async def test_a_lead_lost_just_before_the_request_writes_nothing(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        await scene.wait_idle()
        asked = scene.leadership.asked
        scene.leadership.firm = lambda: scene.leadership.asked <= asked + 1
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_idle()
        assert scene.leadership.asked > asked + 1
        assert scene.writes == 0


class SlowEventClient(EventClient):
    """
    Has a connection only when the other end of its socket says so.
    """

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
    server: EmbeddedServer, api: RestClient
):
    book = SlowEventClient(api)
    async with running_publisher(server, api, book=book) as scene:
        await scene.wait_idle()
        scene.leadership.until = asyncio.get_running_loop().time() + 0.1
        scene.set_verdicts(an_active_verdict(BBR))
        await book.connecting.wait()
        book.far.send(b".")
        time.sleep(0.2)  # noqa: ASYNC251  a process that is stopped
        await scene.wait_idle()
        assert scene.writes == 0
    book.near.close()
    book.far.close()


async def test_a_lead_lost_between_two_requests_of_one_write_ends_it(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        server.cluster.delete("events", "kube-system", scene.events[0]["metadata"]["name"])
        scene.leadership.firm = lambda: scene.requests("PATCH") == 0
        scene.advance(331)
        await scene.until(lambda: scene.results["expired"] == 1)
        await scene.wait_idle()
        assert (scene.event_counts, scene.requests("POST")) == ([], 1)


async def test_a_follower_judges_and_is_silent(server: EmbeddedServer, api: RestClient):
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(KAITO))
        await scene.wait_for_events("clusterKaito x1")
        scene.leadership.release()
        await scene.wait_idle()
        assert scene.controller.announcement_state == AnnouncementState()
        before = len(list(server.requests))
        scene.set_verdicts(an_active_verdict(BBR))
        scene.advance(600)
        await scene.wait_idle()
        assert BBR in scene.controller.evaluation.gate.finding_states
        assert len(list(server.requests)) == before


# ------------------------------------------------------------ what was said before


@pytest.mark.parametrize(
    "trouble",
    [
        status_response(503, "ServiceUnavailable", "unable"),
        status_response(401, "Unauthorized", "Unauthorized"),
        FaultResponse(403, b"<html>Forbidden</html>", {"Content-Type": "text/html"}),
        CutConnection(),
        truncated_response(),
    ],
    ids=["503", "401", "403 of a stranger", "cut", "half of it"],
)
async def test_nothing_is_announced_until_it_is_known_what_was_said_before(
    server: EmbeddedServer, api: RestClient, trouble
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(5)
    fault = server.faults.add(trouble, method="GET", path="events")
    async with running_publisher(server, api, clock=clock) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.until(lambda: fault.hits >= 1)
        await scene.wait_idle()
        assert (scene.event_counts, scene.writes) == (["clusterBBR x1"], 1)
        server.faults.clear(fault)
        scene.advance(331)
        await scene.wait_for_events("clusterBBR x2", within=10)


async def test_who_may_not_read_what_was_said_before_announces_without(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    server.deny("list", "", "events", "kube-system")
    async with running_publisher(server, api) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_for_events("clusterBBR x1")
        (line,) = lines(caplog, "list events")
        assert "tried again" not in line


async def test_a_restart_says_nothing_continues_the_count_and_closes_with_ready(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(20)
    async with running_publisher(server, api, clock=clock) as scene:
        scene.set_verdicts(an_active_verdict(BBR))
        await scene.wait_idle()
        assert scene.writes == 1
        scene.advance(331)
        await scene.wait_for_events("clusterBBR x2")
        scene.set_clear(BBR)
        scene.advance(31)
        await scene.wait_for_events("clusterBBR x2", "clusterReady x1")
        assert scene.results == {"patched": 1, "created": 1}


async def test_what_healed_over_a_restart_gets_its_ready_and_no_other_write(
    server: EmbeddedServer, api: RestClient
):
    async with running_publisher(server, api) as first:
        first.set_verdicts(an_active_verdict(BBR))
        await first.wait_for_events("clusterBBR x1")
        clock = first.clock
    clock.advance(20)
    async with running_publisher(server, api, clock=clock) as scene:
        await scene.wait_idle()
        scene.advance(29)
        await scene.wait_idle()
        assert scene.event_counts == ["clusterBBR x1"]
        scene.advance(2)
        await scene.wait_for_events("clusterBBR x1", "clusterReady x1")
        assert scene.results == {"created": 1}


async def test_a_lead_that_comes_back_takes_up_what_the_other_leader_said(
    server: EmbeddedServer, api: RestClient
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
