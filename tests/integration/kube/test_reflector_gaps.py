"""
Objects that cannot be decoded, kinds that may not be read, and kinds that are not served.
"""

import asyncio

from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from tests.integration.kube.reflector_fixture import (
    FakeStore,
    ScriptedServer,
    a_deployment,
    a_list_response,
    a_watch_event,
    a_watch_response,
    an_error_event,
    is_watched,
    running_reflector,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_status_response,
    until,
)


ODD = {
    "metadata": {"name": "odd", "namespace": "shop", "resourceVersion": "9"},
    "spec": {"replicas": "two"},
}


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
