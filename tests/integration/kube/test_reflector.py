"""A reflector against servers that misbehave in every way observed in clusters."""

import asyncio
import dataclasses
import gc
from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.kinds.core import PODS
from reporter.model.observations import NotSynced, Watching, WatchLost
from tests.integration.kube.reflector_fixture import (
    FAST_TIMING,
    ScriptedServer,
    a_bookmark_event,
    a_deployment,
    a_list_response,
    a_watch_event,
    a_watch_response,
    an_error_event,
    is_watched,
    ms,
    running_reflector,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_status_response,
    an_html_response,
    until,
)


async def test_a_list_is_read_and_watched_from_its_version(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"), a_deployment("b"))],
        watches=[a_watch_response(a_watch_event("ADDED", a_deployment("c", "11")))],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.store.names == ["a", "b", "c"])
        await until(is_watched(run))
        assert run.reflector.stats.objects == 3
        assert run.reflector.stats.relists == 0
    assert len(cluster.listed) == 1
    watch = cluster.watched[0].query
    assert watch["resourceVersion"] == "10"
    assert watch["allowWatchBookmarks"] == "true"
    assert 300 <= int(watch["timeoutSeconds"]) <= 600


async def test_a_watch_keeps_no_object_of_the_list_before_it(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
        _, listed = run.store.objects.popitem()
        assert [each for each in gc.get_referrers(listed) if isinstance(each, tuple | list)] == []


async def test_a_bookmark_moves_the_version_to_watch_from(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(version="10")],
        watches=[a_watch_response(a_bookmark_event("44"), then="end"), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        assert run.store.watch_states == [NotSynced(), Watching()]
    assert cluster.watched[1].query["resourceVersion"] == "44"


async def test_a_watch_that_ends_at_once_is_reopened_after_a_pause_without_a_log_line(tmp_path):
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response(then="end")])
    timing = replace(FAST_TIMING, rewatch_interval=ms(100))
    async with running_reflector(tmp_path, cluster, timing=timing) as run:
        await until(lambda: len(cluster.watched) >= 2)
        began, now = len(cluster.watched), asyncio.get_running_loop().time
        start = now()
        await until(lambda: len(cluster.watched) >= began + 5)
        assert now() - start >= 0.4
        assert run.store.watch_states == [NotSynced(), Watching()]
        assert run.discovery.refresh_requests >= 5
    assert len(cluster.listed) == 1


@pytest.mark.parametrize(
    "expired",
    [
        a_status_response(410, "Expired"),
        a_watch_response(an_error_event(410, "Expired", "too old resource version")),
    ],
    ids=["HTTP", "ERROR event"],
)
async def test_an_expired_version_causes_a_relist_that_drops_deleted_objects(tmp_path, expired):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("a"), a_deployment("b")),
            a_list_response(a_deployment("b"), version="99"),
        ],
        watches=[expired, a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.store.names == ["b"])
        await until(lambda: len(cluster.watched) == 2)
        assert not any(isinstance(state, WatchLost) for state in run.store.watch_states)
        assert run.reflector.stats.relists == 1
    assert cluster.watched[1].query["resourceVersion"] == "99"


async def test_a_version_that_keeps_expiring_is_relisted_with_backoff(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()], watches=[a_status_response(410, "Expired")]
    )
    growth = replace(FAST_TIMING.backoff, initial=ms(50), cap=timedelta(seconds=30))
    async with running_reflector(tmp_path, cluster, timing=replace(FAST_TIMING, backoff=growth)):
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
        await until(lambda: run.store.names == ["new"])


@pytest.mark.parametrize(
    ("second_page", "why", "refused"),
    [
        (a_status_response(403, "Forbidden"), "may not list deployments.apps", True),
        (a_status_response(500, "InternalError", "etcd"), "etcd", False),
        (a_status_response(410, "Expired", "too old"), "too old", False),
    ],
    ids=["403", "500", "410"],
)
async def test_a_list_that_is_refused_half_way_is_no_list(tmp_path, second_page, why, refused):
    first = a_list_response(a_deployment("a"), token="1")
    cluster = ScriptedServer(lists=[first, second_page] * 50, watches=[a_watch_response()])
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.store.watch_states[-1] != NotSynced())
        assert run.store.watch_states[-1] == NotSynced(why, refused)
        assert run.store.names == []


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
async def test_a_failed_watch_is_reported_and_reopened(tmp_path, failure):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[failure, a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        await until(is_watched(run))
        assert any(isinstance(state, WatchLost) for state in run.store.watch_states)
        assert run.store.names == ["a"]


async def test_while_the_watch_fails_the_time_of_its_loss_stays(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()],
        watches=[a_watch_response(then="end"), a_status_response(500, "InternalError")],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 4)
        lost = {state.since for state in run.store.watch_states if isinstance(state, WatchLost)}
        assert len(lost) == 1
        assert run.store.watch_states[-1].why == "InternalError"


async def test_a_version_that_keeps_failing_is_given_up_for_a_relist(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response()], watches=[*[a_status_response(500)] * 3, a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == 2


@pytest.mark.parametrize(("stale_after", "lists"), [(ms(1), 2), (ms(60_000), 1)])
async def test_after_a_long_time_without_a_watch_the_kind_is_listed_anew(
    tmp_path, stale_after, lists
):
    failed = a_json_response(b"", status=429, Retry_After="1")
    cluster = ScriptedServer(lists=[a_list_response()], watches=[failed, a_watch_response()])
    async with running_reflector(
        tmp_path, cluster, timing=replace(FAST_TIMING, stale_after=stale_after)
    ) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == lists


async def test_watches_that_break_before_their_first_line_count_as_failures(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(), a_status_response(503)], watches=[a_watch_response(then="cut")]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.listed) >= 4)
        assert isinstance(run.store.watch_states[-1], WatchLost)
    assert len(cluster.watched) == 3


async def test_retry_after_of_a_throttled_watch_is_honoured_and_the_version_kept(tmp_path):
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


async def test_a_dead_peer_is_watched_again_without_a_log_line(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(version="10")],
        watches=[a_watch_response(a_bookmark_event("20")), a_watch_response()],
    )
    timing = replace(FAST_TIMING, idle_timeout=ms(200), stale_after=ms(100))
    async with running_reflector(tmp_path, cluster, timing=timing) as run:
        await until(lambda: len(cluster.watched) >= 2)
        assert run.store.watch_states == [NotSynced(), Watching()]
        assert run.discovery.refresh_requests == 0
    assert cluster.watched[1].query["resourceVersion"] == "20"
    assert len(cluster.listed) == 1


async def test_a_kind_that_changes_its_version_is_listed_anew(tmp_path):
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response(then="end")])
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 1)
        run.store.version = "v2"
        await until(lambda: len(cluster.listed) == 2)
    assert cluster.listed[1].path == "/apis/apps/v2/deployments"


async def test_a_relist_repairs_events_that_a_watch_lost(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("lost")), a_list_response(a_deployment("found"))],
        watches=[a_watch_response()],
    )
    timing = replace(FAST_TIMING, relist_interval=timedelta(seconds=1), watch_timeout_grace=ms(50))
    async with running_reflector(tmp_path, cluster, timing=timing) as run:
        await until(lambda: run.store.names == ["lost"])
        await until(lambda: run.store.names == ["found"])
        assert run.store.watch_states == [NotSynced(), Watching()]
    assert int(cluster.watched[0].query["timeoutSeconds"]) == 1


async def test_core_kinds_and_selectors_are_in_the_requests(tmp_path):
    kind = dataclasses.replace(PODS, label_selector="app in (a, b)")
    cluster = ScriptedServer(lists=[a_list_response()], watches=[a_watch_response()])
    async with running_reflector(tmp_path, cluster, kind=kind) as run:
        await until(is_watched(run))
    for request in (*cluster.listed, *cluster.watched):
        assert request.path == "/api/v1/pods"
        assert request.query["labelSelector"] == "app in (a, b)"


async def test_other_tasks_run_during_a_burst_of_events(tmp_path):
    burst = b"".join(
        a_watch_event("MODIFIED", a_deployment("a", replicas=n)) for n in range(5_000)
    )
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response(burst)]
    )
    seen: set[int] = set()
    async with running_reflector(tmp_path, cluster) as run:
        async with asyncio.timeout(60):
            while 4_999 not in seen:
                seen |= {each.spec.replicas for each in run.store.objects.values()}
                await asyncio.sleep(0)
    assert len(seen) >= 10
