"""An API server that refuses everything for a while, and answers again."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import cycle
from random import Random

from aiohttp import web
from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kube.backoff import BackoffParameters
from reporter.kube.discovery import DiscoveryLoop
from reporter.kube.errors import Unreachable
from reporter.kube.reflector import Reflector
from reporter.kube.watch_context import Recovery, WatchContext
from reporter.model.observations import Watching
from tests.integration.kube.reflector_fixture import (
    FAST_TIMING,
    FakeStore,
    LocalClock,
    a_list_response,
    a_watch_response,
    ms,
)
from tests.integration.kube.test_discovery_loop import KAITO, FakePresenceStore, aggregated
from tests.support.stubs.api_servers import (
    a_kubeconfig,
    a_status_response,
    abort_connection,
    connected,
    serving,
    until,
)


AN_HOUR = timedelta(hours=1)
KINDS = (NAMESPACES, PODS, DEPLOYMENTS)
SLOW_TO_RETRY = replace(
    FAST_TIMING,
    backoff=BackoffParameters(
        initial=ms(10), factor=1e6, cap=AN_HOUR, no_response_cap=ms(20), jitter=0.0
    ),
)
"""From the second failure in a row on a kind waits for an hour."""

REFUSALS = (
    a_status_response(503, "ServiceUnavailable", "apiserver is shutting down"),
    a_status_response(429, "TooManyRequests", "too many requests"),
    a_status_response(504, "Timeout", "request did not complete within 60s"),
    a_status_response(410, "Expired", "too old resource version"),
)


class RefusingServer:
    """Refuses the paths in *refused*, in each way in turn, and cuts the watches that are open."""

    def __init__(self) -> None:
        self.refused = lambda request: False
        self.refusals = 0
        self._answers = cycle(REFUSALS)
        self._open: list[web.BaseRequest] = []

    def refuse(self, refused) -> None:
        self.refused = refused
        for each in self._open:
            abort_connection(each)
        self._open.clear()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.refused(request):
            self.refusals += 1
            answer = next(self._answers)
            return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
        if request.path == "/apis":
            return aggregated(KAITO)
        if request.query.get("watch"):
            self._open.append(request)
            return await a_watch_response()(request)
        return a_list_response()


@asynccontextmanager
async def running_watches(folder, server):
    stores = {kind: FakeStore() for kind in KINDS}
    async with (
        serving(server) as at,
        connected(a_kubeconfig(folder, at.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        context = WatchContext(api, LocalClock(), SLOW_TO_RETRY, Random(5))
        at_once = replace(context, timing=FAST_TIMING)
        discovery = DiscoveryLoop(at_once, FakePresenceStore(), ["workspaces.kaito.sh"])
        reflectors = [Reflector(context, kind, stores[kind], discovery) for kind in KINDS]
        tasks = [group.create_task(each.run()) for each in reflectors]
        tasks.append(group.create_task(discovery.run()))
        await until(lambda: are_watched(stores))
        yield stores
        for task in tasks:
            task.cancel()


def are_watched(stores) -> bool:
    return all(each.watch_states[-1] == Watching() for each in stores.values())


async def test_all_kinds_are_watched_again_soon_after_the_api_server_answers(tmp_path):
    server = RefusingServer()
    async with running_watches(tmp_path, server) as stores:
        server.refuse(lambda request: True)
        await until(lambda: server.refusals > 20)
        server.refuse(lambda request: False)
        await until(lambda: are_watched(stores))


async def test_a_kind_that_goes_on_failing_alone_keeps_its_pauses(tmp_path):
    server = RefusingServer()
    async with running_watches(tmp_path, server) as stores:
        server.refuse(lambda request: request.path.endswith("/deployments"))
        others = {kind: stores[kind] for kind in (NAMESPACES, PODS)}
        await until(lambda: are_watched(others) and server.refusals >= 2)
        before = server.refusals
        await asyncio.sleep(0.5)
        assert server.refusals <= before + 2


async def test_a_pause_lasts_at_least_as_long_as_the_server_asks():
    recovery, loop = Recovery(), asyncio.get_running_loop()
    began = loop.time()
    waiting = asyncio.create_task(recovery.wait(AN_HOUR, at_least=ms(100)))
    await asyncio.sleep(0)
    try:
        with recovery.attempt("a list"):
            raise Unreachable("list pods")
    except Unreachable:
        pass
    with recovery.attempt("a list"):
        pass
    assert await waiting
    assert loop.time() - began >= 0.1
