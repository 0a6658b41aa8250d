"""A store, short timings and a scripted API server for the tests of reflectors."""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from random import Random

from aiohttp import web

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kube.backoff import BackoffParameters
from reporter.kube.reflector import Reflector
from reporter.kube.watch_context import WatchContext, WatchTiming
from reporter.model.observations import NotSynced, Watching, WatchState
from tests.support.builders import NOON
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    abort_connection,
    connected,
    never_answer,
    serving,
)


def ms(number: float) -> timedelta:
    return timedelta(milliseconds=number)


FAST_TIMING = WatchTiming(
    backoff=BackoffParameters(initial=ms(10), cap=ms(40), no_response_cap=ms(20)),
    rewatch_interval=ms(5),
    idle_timeout=timedelta(seconds=20),
    discovery_interval=ms(100),
    loss_confirmation_interval=ms(50),
    min_discovery_interval=ms(10),
)


class LocalClock:
    """The clock of the event loop, which counts no stalls."""

    def now(self) -> datetime:
        return NOON + timedelta(seconds=asyncio.get_running_loop().time())


class FakeStore:
    """A store that records every watch state."""

    def __init__(self, version: str | None = "v1") -> None:
        self.version = version
        self.objects: dict[tuple[str, str], object] = {}
        self.undecodable: set[tuple[str, str]] = set()
        self.watch_states: list[WatchState] = [NotSynced()]

    @property
    def names(self) -> list[str]:
        return sorted(name for _, name in self.objects)

    def replace_in_batches(self, kind, objects, unread):
        yield
        listed = {(o.metadata.namespace, o.metadata.name): o for o in objects}
        kept = {name: old for name, old in self.objects.items() if name in unread}
        self.objects = kept | listed
        self.undecodable = set(unread)

    def upsert(self, kind, new) -> None:
        self.objects[(new.metadata.namespace, new.metadata.name)] = new
        self.undecodable.discard((new.metadata.namespace, new.metadata.name))

    def delete(self, kind, namespace, name) -> None:
        self.objects.pop((namespace, name), None)

    def mark_undecodable(self, kind, namespace, name, stub) -> None:
        self.undecodable.add((namespace, name))

    def set_watch_state(self, kind, state: WatchState) -> None:
        if state != self.watch_states[-1]:
            self.watch_states.append(state)

    def served_version(self, kind) -> str | None:
        return self.version


class FakeDiscovery:
    """Counts the refresh requests; a test completes discovery."""

    def __init__(self) -> None:
        self.refresh_requests = 0
        self.unserved = self.failing = False
        self.misdeclared = ""
        self._answer = asyncio.Event()

    def request_refresh(self) -> None:
        self.refresh_requests += 1

    def complete(self) -> None:
        self._answer.set()
        self._answer = asyncio.Event()

    async def wait_for_answer(self) -> None:
        await self._answer.wait()

    def is_unserved(self, kind) -> bool:
        return self.unserved

    def is_group_failing(self, kind) -> bool:
        return self.failing

    def why_misdeclared(self, kind) -> str:
        return self.misdeclared


def a_deployment(name, version="1", **spec):
    meta = {"name": name, "namespace": "shop", "resourceVersion": version}
    return {"metadata": meta, "spec": {"replicas": 1} | spec}


def a_watch_event(kind, thing) -> bytes:
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


def a_bookmark_event(version) -> bytes:
    return a_watch_event("BOOKMARK", {"metadata": {"resourceVersion": version}})


def an_error_event(code, reason="", message="") -> bytes:
    return a_watch_event(
        "ERROR", {"kind": "Status", "code": code, "reason": reason, "message": message}
    )


def a_list_response(*items, version="10", token="") -> web.Response:
    return a_json_response(
        {"metadata": {"resourceVersion": version, "continue": token}, "items": items}
    )


class ScriptedServer:
    """
    Serves *lists* and *watches* in order, and the last of each again and again.

    Each is a response or a function of the request.
    """

    def __init__(self, *, lists=(), watches=()) -> None:
        self.lists = list(lists)
        self.watches = list(watches)
        self.watched: list[web.BaseRequest] = []
        self.listed: list[web.BaseRequest] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.query.get("watch"):
            self.watched.append(request)
            return await self._next(self.watches, request)
        self.listed.append(request)
        return await self._next(self.lists, request)

    async def _next(self, answers, request) -> web.StreamResponse:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, web.Response):  # which aiohttp sends only once
            return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
        response: web.StreamResponse = await answer(request)
        return response


def a_watch_response(*lines, then="hang"):
    """Make a watch that sends lines and then hangs, ends or is cut."""

    async def answer(request):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(line)
        if then == "cut":
            await asyncio.sleep(0.05)
            abort_connection(request)
        if then == "hang":
            await never_answer(request)
        return response

    return answer


class ReflectorFixture:
    """A reflector at work, and everything around it."""

    def __init__(self, cluster, server, reflector, store, discovery) -> None:
        self.cluster = cluster
        self.server = server
        self.reflector = reflector
        self.store = store
        self.discovery = discovery


@asynccontextmanager
async def running_reflector(folder, cluster, *, timing=FAST_TIMING, kind=DEPLOYMENTS, store=None):
    store, discovery = store or FakeStore(), FakeDiscovery()
    async with (
        serving(cluster) as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        context = WatchContext(api, LocalClock(), timing, Random(7))
        reflector = Reflector(context, kind, store, discovery)
        task = group.create_task(reflector.run())
        yield ReflectorFixture(cluster, server, reflector, store, discovery)
        task.cancel()


def is_watched(run):
    return lambda: run.store.watch_states[-1] == Watching()
