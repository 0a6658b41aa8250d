"""
Churn: a given number of changes a second, of all kinds that change in a cluster that serves models.

Each change alters what the reporter reads, and leaves the stack healthy. The churn runs in a
process of its own, so that it does not delay measurements.
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


MAX_CONCURRENT = 16
"""Maximum number of concurrent requests."""

KAITO, GATEWAY = "/apis/kaito.sh/v1beta1", "/apis/gateway.networking.k8s.io/v1"
INFERENCE = "/apis/inference.networking.k8s.io/v1"
_SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


@dataclass(frozen=True)
class ChurnedKind:
    """A kind of object to change; *name* is a template, *weight* its share of 100 changes."""

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
REPLACED_WEIGHT = 4
"""Replacements of endpoint picker pods in 100 changes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=natural, default=100, help="changes a second; default: 100")


@contextlib.contextmanager
def churning(client: Client, team_count: int, rate: float) -> Iterator[Callable[[], int]]:
    """
    Run the churn and provide a function that returns the number of changes so far.

    Raise AssertionError if the churn has failed.
    """
    context = multiprocessing.get_context("spawn")
    count = context.Value("q", 0)
    # A copy without cached connections, which cannot be passed to another process.
    copy = replace(client)
    process = context.Process(target=_run, args=(copy, team_count, rate, count), daemon=True)
    process.start()
    try:
        yield lambda: count.value
        assert process.is_alive(), "the churn process has ended"
    finally:
        process.terminate()
        process.join()


def _run(client: Client, team_count: int, rate: float, count: "Synchronized[int]") -> None:
    asyncio.run(_ChurnLoop(client, team_count, count).run(rate))


class _ChurnLoop:
    def __init__(self, client: Client, team_count: int, count: "Synchronized[int]") -> None:
        self._client, self._teams, self._count = client, team_count, count
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._status: dict[str, Json] = {}
        self._replacing: set[str] = set()

    async def run(self, rate: float) -> None:
        """Make changes at an even rate. Changes that a slow server delays are not made up for."""
        loop = asyncio.get_running_loop()
        weights = [*(kind.weight for kind in KINDS), REPLACED_WEIGHT]
        async with PlainClient(self._client) as self._session, asyncio.TaskGroup() as group:
            due = loop.time()
            while True:
                (kind,) = random.choices([*KINDS, None], weights)
                await self._slots.acquire()
                change = self._replace() if kind is None else self._touch(kind)
                group.create_task(self._counted(change))
                due = max(due + 1 / rate, loop.time() - 1)
                await asyncio.sleep(max(due - loop.time(), 0))

    async def _counted(self, change: Awaitable[None]) -> None:
        try:
            await change
        finally:
            self._slots.release()
        with self._count.get_lock():
            self._count.value += 1

    async def _touch(self, kind: ChurnedKind) -> None:
        """Write the status of a random object with new messages and transition times."""
        team, model = self._random_model()
        if kind.resource not in self._status:
            first = await self._session.get(kind.path(teams.team(0), teams.model(0, 0)))
            self._status[kind.resource] = first["status"]
        status = _renewed(self._status[kind.resource], team)
        merges = kind.root in {"/api/v1", "/apis/apps/v1"}
        path = f"{kind.path(team, model)}/status"
        await self._session.patch(path, {"status": status}, STRATEGIC if merges else MERGE)

    async def _replace(self) -> None:
        """
        Replace the pod of a random endpoint picker by one of another name, one at a time for each.
        """
        team, model = self._random_model()
        if model in self._replacing:
            return
        self._replacing.add(model)
        path = f"/api/v1/namespaces/{team}/pods"
        selector = f"inferencepool={model}-inferencepool-epp"
        pods = (await self._session.get(f"{path}?labelSelector={selector}"))["items"]
        old = pods[0]
        meta = {k: v for k, v in old["metadata"].items() if k not in _SERVER_FIELDS}
        name = f"{meta['name'].rpartition('-')[0]}-{random.randrange(16**5):05x}"
        new = {**old, "apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": name}}
        await self._session.create(path, new)
        await self._session.patch(f"{path}/{name}/status", {"status": old["status"]})
        # There is more than one pod if an earlier churn ended in the middle of this.
        for pod in pods:
            await self._session.delete(f"{path}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        self._replacing.discard(model)

    def _random_model(self) -> tuple[str, str]:
        number = random.randrange(self._teams)
        return teams.team(number), teams.model(number, random.randrange(teams.MODELS))


def _renewed(status: Any, team: str) -> Any:
    """
    Return a status of the first team for another team, with new messages and transition times.
    """
    if isinstance(status, str):
        return status.replace(teams.team(0), team)
    if isinstance(status, list):
        return [_renewed(item, team) for item in status]
    if not isinstance(status, dict):
        return status
    result = {key: _renewed(value, team) for key, value in status.items()}
    if "lastTransitionTime" in result:
        result["lastTransitionTime"] = statuses.timestamp()
        result["message"] = f"seen {random.randrange(1000)} times"
    return result
