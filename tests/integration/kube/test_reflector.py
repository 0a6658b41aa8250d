"""
A reflector against servers that misbehave in every way that was seen in clusters.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from reporter.model.kinds.core.pods import PODS
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from tests.integration.kube.reflector_fixture import (
    FAST_TIMING,
    FakeStore,
    ScriptedServer,
    a_bookmark_event,
    a_deployment,
    a_list_response,
    a_watch_event,
    a_watch_response,
    an_error_event,
    ms,
    running_reflector,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_status_response,
    an_html_response,
    until,
)


ODD = {
    "metadata": {"name": "odd", "namespace": "shop", "resourceVersion": "9"},
    "spec": {"replicas": "two"},
}


def is_watched(run):
    return lambda: run.shelf.sights[-1] == Watching()


async def test_a_list_is_read_and_watched_from_its_version(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"), a_deployment("b"))],
        watches=[a_watch_response(a_watch_event("ADDED", a_deployment("c", "11")))],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["a", "b", "c"])
        await until(is_watched(run))
        assert run.reflector.stats.objects == 3
        assert run.reflector.stats.relists == 0
    assert len(cluster.listed) == 1
    watch = cluster.watched[0].query
    assert watch["resourceVersion"] == "10"
    assert watch["allowWatchBookmarks"] == "true"
    assert 300 <= int(watch["timeoutSeconds"]) <= 600


async def test_a_bookmark_moves_the_version_to_watch_from(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(version="10")],
        watches=[a_watch_response(a_bookmark_event("44"), then="end"), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        assert run.shelf.sights == [NotSynced(), Watching()]
    assert cluster.watched[1].query["resourceVersion"] == "44"


async def test_a_watch_that_ends_at_once_is_opened_again_without_haste_or_noise(tmp_path):
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response(then="end")])
    pace = replace(FAST_TIMING, rewatch_interval=ms(100))
    async with running_reflector(tmp_path, cluster, pace=pace) as run:
        await until(lambda: len(cluster.watched) >= 2)
        began, now = len(cluster.watched), asyncio.get_running_loop().time
        start = now()
        await until(lambda: len(cluster.watched) >= began + 5)
        assert now() - start >= 0.4
        assert run.shelf.sights == [NotSynced(), Watching()]
        assert run.doubts.asked >= 5
    assert len(cluster.listed) == 1


@pytest.mark.parametrize(
    "expired",
    [
        a_status_response(410, "Expired"),
        a_watch_response(an_error_event(410, "Expired", "too old resource version")),
    ],
    ids=["HTTP", "ERROR event"],
)
async def test_an_expired_version_is_listed_anew_and_what_has_gone_is_dropped(tmp_path, expired):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("a"), a_deployment("b")),
            a_list_response(a_deployment("b"), version="99"),
        ],
        watches=[expired, a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["b"])
        await until(lambda: len(cluster.watched) == 2)
        assert not any(isinstance(sight, WatchLost) for sight in run.shelf.sights)
        assert run.reflector.stats.relists == 1
    assert cluster.watched[1].query["resourceVersion"] == "99"


async def test_a_version_that_expires_again_and_again_is_no_reason_to_hammer(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()], watches=[a_status_response(410, "Expired")]
    )
    growth = replace(FAST_TIMING.backoff, initial=ms(50), cap=timedelta(seconds=30))
    async with running_reflector(tmp_path, cluster, pace=replace(FAST_TIMING, backoff=growth)):
        await until(lambda: len(cluster.listed) >= 3)
        start = asyncio.get_running_loop().time()
        await until(lambda: len(cluster.listed) >= 5)
        assert asyncio.get_running_loop().time() - start >= 0.2


async def test_a_list_whose_continue_token_expired_starts_over(tmp_path):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("old"), token="1"),
            a_status_response(410, "Expired"),
            a_list_response(a_deployment("new")),
        ],
        watches=[a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["new"])


@pytest.mark.parametrize(
    "failure",
    [
        an_html_response(502),
        an_html_response(200),
        a_json_response(b"Unauthorized\n", status=401, Content_Type="text/plain"),
        a_status_response(500, "InternalError"),
        a_status_response(503, "ServiceUnavailable"),
        a_status_response(400, "BadRequest", "invalid resource version"),
        a_watch_response(b"<html>\n", b"502\n", then="end"),
        a_watch_response(b'{"type":"ADD', then="end"),
        a_watch_response(an_error_event(500, "InternalError"), then="end"),
        a_watch_response(then="cut"),
    ],
    ids=[
        "502",
        "page",
        "401",
        "500",
        "503",
        "400",
        "html lines",
        "cut line",
        "ERROR",
        "cut",
    ],
)
async def test_a_failed_watch_is_told_and_opened_again(tmp_path, failure):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[failure, a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        await until(is_watched(run))
        assert any(isinstance(sight, WatchLost) for sight in run.shelf.sights)
        assert run.shelf.names == ["a"]


async def test_while_the_watch_fails_the_time_of_its_loss_stays(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()],
        watches=[a_watch_response(then="end"), a_status_response(500, "InternalError")],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 4)
        lost = {sight.since for sight in run.shelf.sights if isinstance(sight, WatchLost)}
        assert len(lost) == 1
        assert run.shelf.sights[-1].why == "InternalError"


async def test_a_version_that_fails_again_and_again_is_not_believed_in(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()], watches=[*[a_status_response(500)] * 3, a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == 2


@pytest.mark.parametrize(("blind", "lists"), [(ms(1), 2), (ms(60_000), 1)])
async def test_what_happened_while_it_was_blind_is_listed_and_not_replayed(tmp_path, blind, lists):
    failed = a_json_response(b"", status=429, Retry_After="1")
    cluster = ScriptedServer(lists=[a_list_response()], watches=[failed, a_watch_response()])
    async with running_reflector(
        tmp_path, cluster, pace=replace(FAST_TIMING, stale_after=blind)
    ) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == lists


async def test_watches_that_break_before_their_first_line_show_nothing(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(), a_status_response(503)], watches=[a_watch_response(then="cut")]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.listed) >= 4)
        assert isinstance(run.shelf.sights[-1], WatchLost)
    assert len(cluster.watched) == 3


async def test_throttling_is_honoured_and_the_version_kept(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()],
        watches=[a_json_response(b"", status=429, Retry_After="1"), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 1)
        start = asyncio.get_running_loop().time()
        await until(is_watched(run))
        assert asyncio.get_running_loop().time() - start >= 0.9
    assert len(cluster.listed) == 1


async def test_a_dead_peer_is_watched_again_without_noise(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(version="10")],
        watches=[a_watch_response(a_bookmark_event("20")), a_watch_response()],
    )
    pace = replace(FAST_TIMING, idle_timeout=ms(200), stale_after=ms(100))
    async with running_reflector(tmp_path, cluster, pace=pace) as run:
        await until(lambda: len(cluster.watched) >= 2)
        assert run.shelf.sights == [NotSynced(), Watching()]
        assert run.doubts.asked == 0
    assert cluster.watched[1].query["resourceVersion"] == "20"
    assert len(cluster.listed) == 1


async def test_one_odd_object_is_skipped_counted_and_marked(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"), a_deployment("odd"))],
        watches=[
            a_watch_response(
                a_watch_event("MODIFIED", ODD), a_watch_event("ADDED", a_deployment("b", "11"))
            )
        ],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "b" in run.shelf.names)
        assert run.shelf.names == ["a", "b", "odd"]
        assert run.shelf.spoilt == {("shop", "odd")}
        assert run.reflector.stats.decode_errors == 1


async def test_an_odd_object_of_a_list_keeps_its_old_version(tmp_path):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("odd"), a_deployment("gone")),
            a_list_response(ODD, a_deployment("a")),
        ],
        watches=[a_watch_response(an_error_event(410)), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "a" in run.shelf.names)
        assert run.shelf.names == ["a", "odd"]
        assert run.shelf.spoilt == {("shop", "odd")}


async def test_an_odd_object_is_logged_once_for_as_long_as_it_is_odd(tmp_path, caplog):
    healed = a_watch_event("MODIFIED", a_deployment("odd", "11"))
    odd, other = a_watch_event("MODIFIED", ODD), a_watch_event("ADDED", a_deployment("b", "12"))
    cluster = ScriptedServer(
        lists=[a_list_response(ODD), a_list_response(ODD)],
        watches=[
            a_watch_response(odd, odd, an_error_event(410)),
            a_watch_response(odd, healed, odd, other),
        ],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "b" in run.shelf.names)
        assert run.reflector.stats.decode_errors == 6
    assert caplog.text.count("cannot be decoded") == 2


async def test_what_is_forbidden_is_told_and_tried_until_it_is_granted(tmp_path, caplog):
    cluster = ScriptedServer(
        lists=[
            *[a_status_response(403, "Forbidden", "no")] * 4,
            a_list_response(a_deployment("a")),
        ],
        watches=[a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
        assert run.shelf.sights == [
            NotSynced(),
            NotSynced("may not list deployments.apps"),
            Watching(),
        ]
    told = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len(told) == 1
    assert "may not list deployments.apps" in told[0]


async def test_a_right_taken_away_leaves_what_was_known(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))],
        watches=[a_watch_response(then="end"), a_status_response(403, "Forbidden")],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: isinstance(run.shelf.sights[-1], WatchLost))
        assert run.shelf.sights[-1].why == "may not watch deployments.apps"
        assert run.shelf.names == ["a"]


async def test_a_kind_that_is_not_served_waits_for_discovery(tmp_path):
    missing = a_json_response(b"404 page not found\n", status=404, Content_Type="text/plain")
    cluster = ScriptedServer(
        lists=[missing, a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.doubts.asked == 1)
        assert run.shelf.sights == [NotSynced(), NotServed()]
        run.doubts.lacking, run.shelf.version = True, None
        run.doubts.complete()
        asked = len(run.server.requests)
        await asyncio.sleep(0.1)
        run.doubts.complete()
        assert len(run.server.requests) == asked
        run.doubts.lacking, run.shelf.version = False, "v1"
        await until_answered(run, is_watched(run))


async def until_answered(run, condition):
    """
    Discovery answers again and again, as the real one does.
    """
    async with asyncio.timeout(10):
        while not condition():
            run.doubts.complete()
            await asyncio.sleep(0.01)


async def test_a_kind_is_not_asked_for_before_discovery_has_answered(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster, shelf=FakeStore(version=None)) as run:
        await asyncio.sleep(0.05)
        assert run.server.requests == []
        run.shelf.version = "v2"
        await until_answered(run, is_watched(run))
    assert cluster.listed[0].path == "/apis/apps/v2/deployments"


async def test_a_kind_that_changes_its_version_is_listed_anew(tmp_path):
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response(then="end")])
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 1)
        run.shelf.version = "v2"
        await until(lambda: len(cluster.listed) == 2)
    assert cluster.listed[1].path == "/apis/apps/v2/deployments"


async def test_a_relist_repairs_what_a_quiet_stream_lost_without_blindness(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("lost")), a_list_response(a_deployment("found"))],
        watches=[a_watch_response()],
    )
    pace = replace(FAST_TIMING, relist_interval=timedelta(seconds=1), watch_timeout_grace=ms(50))
    async with running_reflector(tmp_path, cluster, pace=pace) as run:
        await until(lambda: run.shelf.names == ["lost"])
        await until(lambda: run.shelf.names == ["found"])
        assert run.shelf.sights == [NotSynced(), Watching()]
    assert int(cluster.watched[0].query["timeoutSeconds"]) == 1


async def test_core_kinds_and_selectors_are_asked_for_as_they_should(tmp_path):
    kind = replace(PODS, label_selector="app in (a, b)")
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response()])
    async with running_reflector(tmp_path, cluster, kind=kind) as run:
        await until(is_watched(run))
    for request in (*cluster.listed, *cluster.watched):
        assert request.path == "/api/v1/pods"
        assert request.query["labelSelector"] == "app in (a, b)"


async def test_a_burst_of_events_leaves_others_their_turn(tmp_path):
    burst = b"".join(
        a_watch_event("MODIFIED", a_deployment("a", replicas=n)) for n in range(5_000)
    )
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response(burst)]
    )
    seen: set[int] = set()
    async with running_reflector(tmp_path, cluster) as run:
        async with asyncio.timeout(10):
            while 4_999 not in seen:
                seen |= {each.spec.replicas for each in run.shelf.objects.values()}
                await asyncio.sleep(0)
    assert len(seen) >= 10
