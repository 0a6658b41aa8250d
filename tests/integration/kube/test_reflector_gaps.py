"""Objects that cannot be decoded, kinds that may not be read, and kinds that are not served."""

import asyncio
from datetime import timedelta

from aiohttp import web
from msgspec.structs import replace

from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from tests.integration.kube.reflector_fixture import (
    FAST_TIMING,
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
    never_answer,
    until,
)


UNDECODABLE = {
    "metadata": {"name": "odd", "namespace": "shop", "resourceVersion": "9"},
    "spec": {"replicas": "two"},
}


async def test_an_undecodable_object_is_counted_and_marked(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"), a_deployment("odd"))],
        watches=[
            a_watch_response(
                a_watch_event("MODIFIED", UNDECODABLE),
                a_watch_event("ADDED", a_deployment("b", "11")),
            )
        ],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "b" in run.store.names)
        assert run.store.names == ["a", "b", "odd"]
        assert run.store.undecodable == {("shop", "odd")}
        assert run.reflector.stats.decode_errors == 1


async def test_an_undecodable_object_of_a_list_keeps_its_old_version(tmp_path):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("odd"), a_deployment("gone")),
            a_list_response(UNDECODABLE, a_deployment("a")),
        ],
        watches=[a_watch_response(an_error_event(410)), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "a" in run.store.names)
        assert run.store.names == ["a", "odd"]
        assert run.store.undecodable == {("shop", "odd")}


async def test_an_undecodable_object_is_logged_once(tmp_path, caplog):
    healed = a_watch_event("MODIFIED", a_deployment("odd", "11"))
    odd, other = (
        a_watch_event("MODIFIED", UNDECODABLE),
        a_watch_event("ADDED", a_deployment("b", "12")),
    )
    cluster = ScriptedServer(
        lists=[a_list_response(UNDECODABLE), a_list_response(UNDECODABLE)],
        watches=[
            a_watch_response(odd, odd, an_error_event(410)),
            a_watch_response(odd, healed, odd, other),
        ],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: "b" in run.store.names)
        assert run.reflector.stats.decode_errors == 6
    assert caplog.text.count("cannot be decoded") == 2


async def test_a_forbidden_kind_is_reported_and_retried_until_it_is_granted(tmp_path, caplog):
    cluster = ScriptedServer(
        lists=[
            *[a_status_response(403, "Forbidden", "no")] * 4,
            a_list_response(a_deployment("a")),
        ],
        watches=[a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
        assert run.store.watch_states == [
            NotSynced(),
            NotSynced("may not list deployments.apps", refused=True),
            Watching(),
        ]
    logged = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len(logged) == 1
    assert "may not list deployments.apps" in logged[0]


async def test_a_pause_that_the_server_asks_for_is_bounded_and_reported(tmp_path):
    busy = a_json_response(b"busy", 429, Retry_After="3600", Content_Type="text/plain")
    async with running_reflector(tmp_path, ScriptedServer(lists=[busy])) as run:
        await until(lambda: len(run.store.watch_states) == 2)
        assert run.store.watch_states[-1] == NotSynced("busy; tried again after 300 s")


async def test_a_revoked_permission_keeps_the_known_objects(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))],
        watches=[a_watch_response(then="end"), a_status_response(403, "Forbidden")],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: isinstance(run.store.watch_states[-1], WatchLost))
        assert run.store.watch_states[-1].why == "may not watch deployments.apps"
        assert run.store.names == ["a"]


async def test_what_a_lost_watch_sends_first_is_stored_at_once(tmp_path):
    """The states between were over before the watch was resumed: nobody may see them."""
    past, current = (
        a_watch_event("MODIFIED", a_deployment("a", version, replicas=replicas))
        for version, replicas in (("11", 0), ("12", 2))
    )
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))],
        watches=[
            a_watch_response(then="cut"),
            a_slow_watch_response(past, current, pause=0.05),
        ],
    )
    store = RecordingStore()
    timing = replace(FAST_TIMING, backlog_quiet=timedelta(seconds=2))
    async with running_reflector(tmp_path, cluster, store=store, timing=timing):
        await until(lambda: store.seen)
        assert store.seen == [(0, 2)]


async def test_a_watch_that_ends_amid_its_backlog_shows_nothing_of_it(tmp_path):
    past = a_watch_event("MODIFIED", a_deployment("a", "11", replicas=0))
    current = a_deployment("a", "12", replicas=2)
    cut_at_once = a_watch_response(past, then="cut")
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a")), a_list_response(current)],
        watches=[a_watch_response(then="cut"), *[cut_at_once] * 3, a_watch_response()],
    )
    store = RecordingStore()
    async with running_reflector(tmp_path, cluster, store=store) as run:
        await until(lambda: len(cluster.listed) == 2 and not cluster.watches[1:])
        assert len(cluster.listed) == 2, "it is listed anew, as no watch gets on"
        assert store.seen == []
        assert run.reflector.resource_version == "10"


class RecordingStore(FakeStore):
    """Records the replicas that watches report, together those between which no other task ran."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, ...]] = []
        self._together: list[int] = []

    def upsert(self, kind, new) -> None:
        super().upsert(kind, new)
        if not self._together:
            asyncio.get_running_loop().call_soon(self._end)
        self._together.append(new.spec.replicas)

    def _end(self) -> None:
        self.seen.append(tuple(self._together))
        self._together.clear()


def a_slow_watch_response(*lines, pause):
    async def answer(request):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(line)
            await asyncio.sleep(pause)
        await never_answer(request)
        return response

    return answer


async def test_a_kind_that_is_not_served_waits_for_discovery(tmp_path):
    missing = a_json_response(b"404 page not found\n", status=404, Content_Type="text/plain")
    cluster = ScriptedServer(
        lists=[missing, a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: run.discovery.refresh_requests == 1)
        assert run.store.watch_states == [NotSynced(), NotServed()]
        run.discovery.unserved, run.store.version = True, None
        run.discovery.complete()
        asked = len(run.server.requests)
        await asyncio.sleep(0.1)
        run.discovery.complete()
        assert len(run.server.requests) == asked
        run.discovery.unserved, run.store.version = False, "v1"
        await until_answered(run, is_watched(run))


async def test_a_kind_that_is_declared_with_another_scope_is_named_once_and_not_listed(
    tmp_path, caplog
):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))],
        watches=[a_watch_response(then="end"), a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        run.discovery.misdeclared = "overlay.yaml:1: Thing is declared with namespaces"
        await until(lambda: isinstance(run.store.watch_states[-1], NotSynced) and caplog.text)
        refused = run.store.watch_states[-1]
        asked = len(run.server.requests)
        for _ in range(3):
            run.discovery.complete()
            await asyncio.sleep(0.01)
        assert refused == NotSynced(
            "overlay.yaml:1: Thing is declared with namespaces", refused=True
        )
        assert len(run.server.requests) == asked
        run.discovery.misdeclared, listed = "", len(cluster.listed)
        await until_answered(run, is_watched(run))
        assert len(cluster.listed) == listed + 1, "it is listed anew"
    assert caplog.text.count("Thing is declared with namespaces") == 1


async def until_answered(run, condition):
    """Repeat the answer of discovery, as the real one does."""
    async with asyncio.timeout(60):
        while not condition():
            run.discovery.complete()
            await asyncio.sleep(0.01)


async def test_no_kind_is_listed_before_discovery_has_answered(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster, store=FakeStore(version=None)) as run:
        await asyncio.sleep(0.05)
        assert run.server.requests == []
        run.store.version = "v2"
        await until_answered(run, is_watched(run))
    assert cluster.listed[0].path == "/apis/apps/v2/deployments"
