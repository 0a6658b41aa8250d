"""
A reflector against servers that misbehave in every way that was seen in clusters.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from reporter.model.kinds import PODS
from reporter.model.observations import Unlisted, Unserved, Unwatched, Watched
from tests.integration.kube.servers import a_page, a_status, an_answer, until
from tests.integration.kube.watching import (
    HASTE,
    Cluster,
    Shelf,
    a_bookmark,
    a_deployment,
    a_list,
    an_error,
    an_event,
    ms,
    reflecting,
    says,
)


ODD = {
    "metadata": {"name": "odd", "namespace": "shop", "resourceVersion": "9"},
    "spec": {"replicas": "two"},
}


def is_watched(run):
    return lambda: run.shelf.sights[-1] == Watched()


async def test_a_list_is_read_and_watched_from_its_version(tmp_path):
    cluster = Cluster(
        lists=[a_list(a_deployment("a"), a_deployment("b"))],
        watches=[says(an_event("ADDED", a_deployment("c", "11")))],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["a", "b", "c"])
        await until(is_watched(run))
        assert run.reflector.progress.objects == 3
        assert run.reflector.progress.relists == 0
    assert len(cluster.listed) == 1
    watch = cluster.watched[0].query
    assert watch["resourceVersion"] == "10"
    assert watch["allowWatchBookmarks"] == "true"
    assert 300 <= int(watch["timeoutSeconds"]) <= 600


async def test_a_bookmark_moves_the_version_to_watch_from(tmp_path):
    cluster = Cluster(
        lists=[a_list(version="10")],
        watches=[says(a_bookmark("44"), then="end"), says()],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        assert run.shelf.sights == [Unlisted(), Watched()]
    assert cluster.watched[1].query["resourceVersion"] == "44"


async def test_a_watch_that_ends_at_once_is_opened_again_without_haste_or_noise(tmp_path):
    cluster = Cluster(lists=[a_list()], watches=[says(then="end")])
    pace = replace(HASTE, rewatch=ms(100))
    async with reflecting(tmp_path, cluster, pace=pace) as run:
        await until(lambda: len(cluster.watched) >= 2)
        began, now = len(cluster.watched), asyncio.get_running_loop().time
        start = now()
        await until(lambda: len(cluster.watched) >= began + 5)
        assert now() - start >= 0.4
        assert run.shelf.sights == [Unlisted(), Watched()]
        assert run.doubts.asked >= 5
    assert len(cluster.listed) == 1


@pytest.mark.parametrize(
    "expired",
    [a_status(410, "Expired"), says(an_error(410, "Expired", "too old resource version"))],
    ids=["HTTP", "ERROR event"],
)
async def test_an_expired_version_is_listed_anew_and_what_has_gone_is_dropped(tmp_path, expired):
    cluster = Cluster(
        lists=[
            a_list(a_deployment("a"), a_deployment("b")),
            a_list(a_deployment("b"), version="99"),
        ],
        watches=[expired, says()],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["b"])
        await until(lambda: len(cluster.watched) == 2)
        assert not any(isinstance(sight, Unwatched) for sight in run.shelf.sights)
        assert run.reflector.progress.relists == 1
    assert cluster.watched[1].query["resourceVersion"] == "99"


async def test_a_version_that_expires_again_and_again_is_no_reason_to_hammer(tmp_path):
    cluster = Cluster(lists=[a_list()], watches=[a_status(410, "Expired")])
    growth = replace(HASTE.growth, first=ms(50), longest=timedelta(seconds=30))
    async with reflecting(tmp_path, cluster, pace=replace(HASTE, growth=growth)):
        await until(lambda: len(cluster.listed) >= 3)
        start = asyncio.get_running_loop().time()
        await until(lambda: len(cluster.listed) >= 5)
        assert asyncio.get_running_loop().time() - start >= 0.2


async def test_a_list_whose_continue_token_expired_starts_over(tmp_path):
    cluster = Cluster(
        lists=[
            a_list(a_deployment("old"), token="1"),
            a_status(410, "Expired"),
            a_list(a_deployment("new")),
        ],
        watches=[says()],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: run.shelf.names == ["new"])


@pytest.mark.parametrize(
    "failure",
    [
        a_page(502),
        a_page(200),
        an_answer(b"Unauthorized\n", status=401, Content_Type="text/plain"),
        a_status(500, "InternalError"),
        a_status(503, "ServiceUnavailable"),
        a_status(400, "BadRequest", "invalid resource version"),
        says(b"<html>\n", b"502\n", then="end"),
        says(b'{"type":"ADD', then="end"),
        says(an_error(500, "InternalError"), then="end"),
        says(then="cut"),
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
    cluster = Cluster(lists=[a_list(a_deployment("a"))], watches=[failure, says()])
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 2)
        await until(is_watched(run))
        assert any(isinstance(sight, Unwatched) for sight in run.shelf.sights)
        assert run.shelf.names == ["a"]


async def test_while_the_watch_fails_the_time_of_its_loss_stays(tmp_path):
    cluster = Cluster(lists=[a_list()], watches=[says(then="end"), a_status(500, "InternalError")])
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 4)
        lost = {sight.lost for sight in run.shelf.sights if isinstance(sight, Unwatched)}
        assert len(lost) == 1
        assert run.shelf.sights[-1].why == "InternalError"


async def test_a_version_that_fails_again_and_again_is_not_believed_in(tmp_path):
    cluster = Cluster(lists=[a_list()], watches=[*[a_status(500)] * 3, says()])
    async with reflecting(tmp_path, cluster) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == 2


@pytest.mark.parametrize(("blind", "lists"), [(ms(1), 2), (ms(60_000), 1)])
async def test_what_happened_while_it_was_blind_is_listed_and_not_replayed(tmp_path, blind, lists):
    failed = an_answer(b"", status=429, Retry_After="1")
    cluster = Cluster(lists=[a_list()], watches=[failed, says()])
    async with reflecting(tmp_path, cluster, pace=replace(HASTE, blind=blind)) as run:
        await until(is_watched(run))
    assert len(cluster.listed) == lists


async def test_watches_that_break_before_their_first_line_show_nothing(tmp_path):
    cluster = Cluster(lists=[a_list(), a_status(503)], watches=[says(then="cut")])
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.listed) >= 4)
        assert isinstance(run.shelf.sights[-1], Unwatched)
    assert len(cluster.watched) == 3


async def test_throttling_is_honoured_and_the_version_kept(tmp_path):
    cluster = Cluster(
        lists=[a_list()], watches=[an_answer(b"", status=429, Retry_After="1"), says()]
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 1)
        start = asyncio.get_running_loop().time()
        await until(is_watched(run))
        assert asyncio.get_running_loop().time() - start >= 0.9
    assert len(cluster.listed) == 1


async def test_a_dead_peer_is_watched_again_without_noise(tmp_path):
    cluster = Cluster(lists=[a_list(version="10")], watches=[says(a_bookmark("20")), says()])
    pace = replace(HASTE, silence=ms(200), blind=ms(100))
    async with reflecting(tmp_path, cluster, pace=pace) as run:
        await until(lambda: len(cluster.watched) >= 2)
        assert run.shelf.sights == [Unlisted(), Watched()]
        assert run.doubts.asked == 0
    assert cluster.watched[1].query["resourceVersion"] == "20"
    assert len(cluster.listed) == 1


async def test_one_odd_object_is_skipped_counted_and_marked(tmp_path):
    cluster = Cluster(
        lists=[a_list(a_deployment("a"), a_deployment("odd"))],
        watches=[says(an_event("MODIFIED", ODD), an_event("ADDED", a_deployment("b", "11")))],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: "b" in run.shelf.names)
        assert run.shelf.names == ["a", "b", "odd"]
        assert run.shelf.spoilt == {("shop", "odd")}
        assert run.reflector.progress.spoilt == 1


async def test_an_odd_object_of_a_list_keeps_its_old_version(tmp_path):
    cluster = Cluster(
        lists=[a_list(a_deployment("odd"), a_deployment("gone")), a_list(ODD, a_deployment("a"))],
        watches=[says(an_error(410)), says()],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: "a" in run.shelf.names)
        assert run.shelf.names == ["a", "odd"]
        assert run.shelf.spoilt == {("shop", "odd")}


async def test_an_odd_object_is_logged_once_for_as_long_as_it_is_odd(tmp_path, caplog):
    healed = an_event("MODIFIED", a_deployment("odd", "11"))
    odd, other = an_event("MODIFIED", ODD), an_event("ADDED", a_deployment("b", "12"))
    cluster = Cluster(
        lists=[a_list(ODD), a_list(ODD)],
        watches=[says(odd, odd, an_error(410)), says(odd, healed, odd, other)],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: "b" in run.shelf.names)
        assert run.reflector.progress.spoilt == 6
    assert caplog.text.count("cannot be decoded") == 2


async def test_what_is_forbidden_is_told_and_tried_until_it_is_granted(tmp_path, caplog):
    cluster = Cluster(
        lists=[*[a_status(403, "Forbidden", "no")] * 4, a_list(a_deployment("a"))],
        watches=[says()],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(is_watched(run))
        assert run.shelf.sights == [
            Unlisted(),
            Unlisted("may not list deployments.apps"),
            Watched(),
        ]
    told = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len(told) == 1
    assert "may not list deployments.apps" in told[0]


async def test_a_right_taken_away_leaves_what_was_known(tmp_path):
    cluster = Cluster(
        lists=[a_list(a_deployment("a"))],
        watches=[says(then="end"), a_status(403, "Forbidden")],
    )
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: isinstance(run.shelf.sights[-1], Unwatched))
        assert run.shelf.sights[-1].why == "may not watch deployments.apps"
        assert run.shelf.names == ["a"]


async def test_a_kind_that_is_not_served_waits_for_discovery(tmp_path):
    missing = an_answer(b"404 page not found\n", status=404, Content_Type="text/plain")
    cluster = Cluster(lists=[missing, a_list(a_deployment("a"))], watches=[says()])
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: run.doubts.asked == 1)
        assert run.shelf.sights == [Unlisted(), Unserved()]
        run.doubts.lacking, run.shelf.version = True, None
        run.doubts.answer()
        asked = len(run.server.requests)
        await asyncio.sleep(0.1)
        run.doubts.answer()
        assert len(run.server.requests) == asked
        run.doubts.lacking, run.shelf.version = False, "v1"
        await until_answered(run, is_watched(run))


async def until_answered(run, condition):
    """
    Discovery answers again and again, as the real one does.
    """
    async with asyncio.timeout(10):
        while not condition():
            run.doubts.answer()
            await asyncio.sleep(0.01)


async def test_a_kind_is_not_asked_for_before_discovery_has_answered(tmp_path):
    cluster = Cluster(lists=[a_list(a_deployment("a"))], watches=[says()])
    async with reflecting(tmp_path, cluster, shelf=Shelf(version=None)) as run:
        await asyncio.sleep(0.05)
        assert run.server.requests == []
        run.shelf.version = "v2"
        await until_answered(run, is_watched(run))
    assert cluster.listed[0].path == "/apis/apps/v2/deployments"


async def test_a_kind_that_changes_its_version_is_listed_anew(tmp_path):
    cluster = Cluster(lists=[a_list()], watches=[says(then="end")])
    async with reflecting(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) >= 1)
        run.shelf.version = "v2"
        await until(lambda: len(cluster.listed) == 2)
    assert cluster.listed[1].path == "/apis/apps/v2/deployments"


async def test_a_relist_repairs_what_a_quiet_stream_lost_without_blindness(tmp_path):
    cluster = Cluster(
        lists=[a_list(a_deployment("lost")), a_list(a_deployment("found"))],
        watches=[says()],
    )
    pace = replace(HASTE, relist=timedelta(seconds=1), overdue=ms(50))
    async with reflecting(tmp_path, cluster, pace=pace) as run:
        await until(lambda: run.shelf.names == ["lost"])
        await until(lambda: run.shelf.names == ["found"])
        assert run.shelf.sights == [Unlisted(), Watched()]
    assert int(cluster.watched[0].query["timeoutSeconds"]) == 1


async def test_core_kinds_and_selectors_are_asked_for_as_they_should(tmp_path):
    kind = replace(PODS, selector="app in (a, b)")
    cluster = Cluster(lists=[a_list()], watches=[says()])
    async with reflecting(tmp_path, cluster, kind=kind) as run:
        await until(is_watched(run))
    for request in (*cluster.listed, *cluster.watched):
        assert request.path == "/api/v1/pods"
        assert request.query["labelSelector"] == "app in (a, b)"


async def test_a_burst_of_events_leaves_others_their_turn(tmp_path):
    burst = b"".join(an_event("MODIFIED", a_deployment("a", replicas=n)) for n in range(5_000))
    cluster = Cluster(lists=[a_list(a_deployment("a"))], watches=[says(burst)])
    seen: set[int] = set()
    async with reflecting(tmp_path, cluster) as run:
        async with asyncio.timeout(10):
            while 4_999 not in seen:
                seen |= {each.spec.replicas for each in run.shelf.objects.values()}
                await asyncio.sleep(0)
    assert len(seen) >= 10
