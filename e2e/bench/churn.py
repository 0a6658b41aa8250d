"""
A large stack in motion: so many changes a second, of everything that changes where models serve.

Each changes what the reporter reads, and leaves the stack healthy. A process of its own, so that
whoever measures at the same time is not held up.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from e2e.bench.load import teams
from e2e.bench.support.plain_client import Json, PlainClient
from e2e.controlplane import Client
from e2e.controlplane.client import MERGE, STRATEGIC
from e2e.support.arguments import natural
from e2e.support.production_stack import statuses


AT_ONCE = 16
"""
Requests under way at the same time.
"""

KAITO, GATEWAY = "/apis/kaito.sh/v1beta1", "/apis/gateway.networking.k8s.io/v1"
INFERENCE = "/apis/inference.networking.k8s.io/v1"
_SET_BY_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


@dataclass(frozen=True)
class ChurnedKind:
    """
    *name*: of the object, from its model's. *weight*: how many of a hundred changes.
    """

    root: str
    resource: str
    name: str
    weight: int

    def path(self, team: str, model: str) -> str:
        name = self.name.format(model=model, pod=random.randrange(teams.PODS))
        return f"{self.root}/namespaces/{team}/{self.resource}/{name}"


KINDS = (
    ChurnedKind("/api/v1", "pods", "{model}-7rk2p-{pod}", 50),
    ChurnedKind("/apis/apps/v1", "deployments", "{model}-inferencepool-epp", 20),
    ChurnedKind(KAITO, "workspaces", "{model}-7rk2p", 10),
    ChurnedKind(KAITO, "inferencesets", "{model}", 8),
    ChurnedKind(GATEWAY, "httproutes", "{model}-route", 4),
    ChurnedKind(INFERENCE, "inferencepools", "{model}-inferencepool", 4),
)
REPLACED = 4
"""
Of a hundred changes: pods of endpoint pickers that make way for new ones.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=natural, default=100, help="changes a second; default: 100")


@contextlib.contextmanager
def churning(client: Client, team_count: int, rate: float) -> Iterator[Callable[[], int]]:
    """
    Yields what tells how many changes were made so far. Raises AssertionError when it broke down.
    """
    context = multiprocessing.get_context("spawn")
    made = context.Value("q", 0)
    fresh = replace(client)  # without what it remembers, which no other process can have
    process = context.Process(target=_run, args=(fresh, team_count, rate, made), daemon=True)
    process.start()
    try:
        yield lambda: made.value
        assert process.is_alive(), "the churn has ended"
    finally:
        process.terminate()
        process.join()


def _run(client: Client, team_count: int, rate: float, made: "Synchronized[int]") -> None:
    asyncio.run(_ChurnLoop(client, team_count, made).run(rate))


class _ChurnLoop:
    def __init__(self, client: Client, team_count: int, made: "Synchronized[int]") -> None:
        self._client, self._teams, self._made = client, team_count, made
        self._room = asyncio.Semaphore(AT_ONCE)
        self._status: dict[str, Json] = {}
        self._replacing: set[str] = set()

    async def run(self, rate: float) -> None:
        """
        As evenly as the server answers; what it could not take in time is not made up for.
        """
        loop = asyncio.get_running_loop()
        weights = [*(kind.weight for kind in KINDS), REPLACED]
        async with PlainClient(self._client) as self._session, asyncio.TaskGroup() as group:
            due = loop.time()
            while True:
                (kind,) = random.choices([*KINDS, None], weights)
                await self._room.acquire()
                change = self._replace() if kind is None else self._touch(kind)
                group.create_task(self._counted(change))
                due = max(due + 1 / rate, loop.time() - 1)
                await asyncio.sleep(max(due - loop.time(), 0))

    async def _counted(self, change: Awaitable[None]) -> None:
        try:
            await change
        finally:
            self._room.release()
        with self._made.get_lock():
            self._made.value += 1

    async def _touch(self, kind: ChurnedKind) -> None:
        """
        Its conditions hold anew, with another message.
        """
        team, model = self._any()
        if kind.resource not in self._status:
            found = await self._session.get(kind.path(teams.team(0), teams.model(0, 0)))
            self._status[kind.resource] = found["status"]
        status = _renewed(self._status[kind.resource], team)
        merges = kind.root in {"/api/v1", "/apis/apps/v1"}
        path = f"{kind.path(team, model)}/status"
        await self._session.patch(path, {"status": status}, STRATEGIC if merges else MERGE)

    async def _replace(self) -> None:
        """
        An endpoint picker's pod, by one of another name; one at a time of each.
        """
        team, model = self._any()
        if model in self._replacing:
            return
        self._replacing.add(model)
        path = f"/api/v1/namespaces/{team}/pods"
        selector = f"inferencepool={model}-inferencepool-epp"
        there = (await self._session.get(f"{path}?labelSelector={selector}"))["items"]
        old = there[0]
        meta = {k: v for k, v in old["metadata"].items() if k not in _SET_BY_THE_SERVER}
        name = f"{meta['name'].rpartition('-')[0]}-{random.randrange(16**5):05x}"
        new = {**old, "apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": name}}
        await self._session.create(path, new)
        await self._session.patch(f"{path}/{name}/status", {"status": old["status"]})
        for each in there:  # more than one where an earlier churn was ended in between
            await self._session.delete(f"{path}/{each['metadata']['name']}?gracePeriodSeconds=0")
        self._replacing.discard(model)

    def _any(self) -> tuple[str, str]:
        number = random.randrange(self._teams)
        return teams.team(number), teams.model(number, random.randrange(teams.MODELS))


def _renewed(status: Any, team: str) -> Any:
    """
    As the first team's, for another one: what it may name are namespaces and Gateways.
    """
    if isinstance(status, str):
        return status.replace(teams.team(0), team)
    if isinstance(status, list):
        return [_renewed(each, team) for each in status]
    if not isinstance(status, dict):
        return status
    found = {key: _renewed(each, team) for key, each in status.items()}
    if "lastTransitionTime" in found:
        found["lastTransitionTime"] = statuses.timestamp()
        found["message"] = f"seen {random.randrange(1000)} times"
    return found
