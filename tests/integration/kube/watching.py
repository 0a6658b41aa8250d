"""
What the tests of reflectors share: a store, a pace for the impatient, a cluster that is told what to say.
"""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random

from aiohttp import web

from reporter.kube.backoff import Growth
from reporter.kube.means import Means
from reporter.kube.pace import Pace
from reporter.kube.reflector import Reflector
from reporter.model.kinds import DEPLOYMENTS
from reporter.model.observations import Sight, Unlisted
from tests.integration.kube.servers import (
    a_kubeconfig,
    an_answer,
    connected,
    cut,
    hang,
    serving,
)


def ms(number: float) -> timedelta:
    return timedelta(milliseconds=number)


HASTE = Pace(
    growth=Growth(first=ms(10), longest=ms(40), deaf=ms(20)),
    rewatch=ms(5),
    silence=timedelta(seconds=20),
    discovery=ms(100),
    second_look=ms(50),
    discovery_spacing=ms(10),
)


class LocalClock:
    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251


class Shelf:
    """
    A store that keeps names and remembers every sight.
    """

    def __init__(self, version: str | None = "v1") -> None:
        self.version = version
        self.objects: dict[tuple[str, str], object] = {}
        self.spoilt: set[tuple[str, str]] = set()
        self.sights: list[Sight] = [Unlisted()]

    @property
    def names(self) -> list[str]:
        return sorted(name for _, name in self.objects)

    def replacing(self, kind, objects, unread):
        yield
        listed = {(o.metadata.namespace, o.metadata.name): o for o in objects}
        kept = {name: old for name, old in self.objects.items() if name in unread}
        self.objects = kept | listed
        self.spoilt = set(unread)

    def put(self, kind, new) -> None:
        self.objects[(new.metadata.namespace, new.metadata.name)] = new
        self.spoilt.discard((new.metadata.namespace, new.metadata.name))

    def drop(self, kind, namespace, name) -> None:
        self.objects.pop((namespace, name), None)

    def spoil(self, kind, namespace, name) -> None:
        self.spoilt.add((namespace, name))

    def sight(self, kind, sight: Sight) -> None:
        if sight != self.sights[-1]:
            self.sights.append(sight)

    def served(self, kind) -> str | None:
        return self.version


class Doubts:
    """
    Stands for discovery: counts who asks, answers when told.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.lacking = False
        self._answer = asyncio.Event()

    def ask(self) -> None:
        self.asked += 1

    def answer(self) -> None:
        self._answer.set()
        self._answer = asyncio.Event()

    async def answered(self) -> None:
        await self._answer.wait()

    def lacks(self, kind) -> bool:
        return self.lacking


def a_deployment(name, version="1", **spec):
    meta = {"name": name, "namespace": "shop", "resourceVersion": version}
    return {"metadata": meta, "spec": {"replicas": 1} | spec}


def an_event(kind, thing) -> bytes:
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


def a_bookmark(version) -> bytes:
    return an_event("BOOKMARK", {"metadata": {"resourceVersion": version}})


def an_error(code, reason="", message="") -> bytes:
    return an_event(
        "ERROR", {"kind": "Status", "code": code, "reason": reason, "message": message}
    )


def a_list(*items, version="10", token="") -> web.Response:
    return an_answer({"metadata": {"resourceVersion": version, "continue": token}, "items": items})


class Cluster:
    """
    Answers lists from *lists* and watches from *watches*, the last of each again and again.

    An answer is a function of the request.
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
        said: web.StreamResponse = await answer(request)
        return said


def says(*lines, then="hang"):
    """
    A watch that sends lines and then hangs, ends or is cut.
    """

    async def answer(request):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(line)
        if then == "cut":
            await asyncio.sleep(0.05)
            cut(request)
        if then == "hang":
            await hang(request)
        return response

    return answer


class Run:
    """
    A reflector at work, and everything around it.
    """

    def __init__(self, cluster, server, reflector, shelf, doubts) -> None:
        self.cluster = cluster
        self.server = server
        self.reflector = reflector
        self.shelf = shelf
        self.doubts = doubts


@asynccontextmanager
async def reflecting(folder, cluster, *, pace=HASTE, kind=DEPLOYMENTS, shelf=None):
    shelf, doubts = shelf or Shelf(), Doubts()
    async with (
        serving(cluster) as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        means = Means(api, LocalClock(), pace, Random(7))
        reflector = Reflector(means, kind, shelf, doubts)
        task = group.create_task(reflector.run())
        yield Run(cluster, server, reflector, shelf, doubts)
        task.cancel()
