"""
The objects of a whole cluster: the example stack with a number of InferenceSets, all healthy.

They are written with their statuses to the API server of a control plane without controllers,
which would repair or delete them.
"""

import asyncio
import datetime as dt
import json
import re
import ssl
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import aiohttp

from devcluster.example import stack
from devcluster.example import team as example_team
from e2e.controlplane import Client, ControlPlane, Options
from e2e.controlplane.client import MERGE
from reporter.kube.open_sockets import OpenSockets


Json = dict[str, Any]

SETS_OF_A_TEAM = 10
"""InferenceSets that share a namespace and its Gateway."""

MAX_CONCURRENT_WRITES = 16
"""Requests under way at the same time; more only wait in the API server."""

MINIMAL_OPTIONS = Options(controllers=False, scheduler=False, kwok=False)
"""Options of a control plane where nothing else writes to these objects."""

_ELSEWHERE = {"CustomResourceDefinition", "Node", "ReplicaSet"}
"""Kinds of the example that the control plane has already or that the reporter never reads."""


def write(plane: ControlPlane, inference_sets: int) -> int:
    """Create the objects, none of which may exist. Returns their number."""
    return write_all(plane, manifests(inference_sets))


def write_all(plane: ControlPlane, wanted: Iterable[Json]) -> int:
    return asyncio.run(_write(plane, list(wanted)))


def manifests(inference_sets: int, *, of_a_team: int = SETS_OF_A_TEAM) -> Iterator[Json]:
    """Yield manifests with statuses, each namespace before its objects."""
    cluster, models = example()
    yield from cluster
    written: set[tuple[str, ...]] = set()
    for number in range(inference_sets):
        team, model = divmod(number, of_a_team)
        for each in renamed(models, team=f"team-{team}", model=f"model-{model}"):
            if object_key(each) not in written:
                written.add(object_key(each))
                yield each


def example() -> tuple[list[Json], list[Json]]:
    """Return the objects that exist once, and those of the one team and its model."""
    every = [
        each for each in stack.manifests(dt.datetime.now(dt.UTC)) if each["kind"] not in _ELSEWHERE
    ]
    models = [each for each in every if example_team.TEAM in object_key(each)]
    return [each for each in every if each not in models], models


def object_key(manifest: Json) -> tuple[str, ...]:
    meta = manifest["metadata"]
    return (manifest["kind"], meta.get("namespace", ""), meta["name"])


def renamed(models: list[Json], *, team: str, model: str) -> list[Json]:
    """Return the example's objects with the names of another team and model."""
    text = json.dumps(models)
    text = re.sub(rf"\b{example_team.TEAM}\b", team, text)
    found: list[Json] = json.loads(re.sub(rf"\b{example_team.MODEL}\b", model, text))
    return found


# ---------------------------------------------------------------- over HTTP


async def _write(plane: ControlPlane, wanted: list[Json]) -> int:
    first, rest = _namespaces_first(wanted)
    tls = ssl.create_default_context(cafile=str(plane.client.ca_file))
    token = {"Authorization": f"Bearer {plane.client.token}"}
    sockets = OpenSockets()
    async with aiohttp.ClientSession(
        f"https://127.0.0.1:{plane.client.port}",
        headers=token,
        connector=aiohttp.TCPConnector(
            limit=MAX_CONCURRENT_WRITES, ssl=tls, socket_factory=sockets.open
        ),
    ) as session:
        for batch in (first, rest):
            async with asyncio.TaskGroup() as group:
                for each in batch:
                    group.create_task(_create(session, plane.client, each))
    await sockets.close()  # before the event loop ends, which closes none
    return len(wanted)


def _namespaces_first(wanted: Iterable[Json]) -> tuple[list[Json], list[Json]]:
    split: defaultdict[bool, list[Json]] = defaultdict(list)
    for each in wanted:
        split[each["kind"] == "Namespace"].append(each)
    return split[True], split[False]


async def _create(session: aiohttp.ClientSession, client: Client, manifest: Json) -> None:
    await _send(session, "POST", client.collection(manifest), manifest)
    if "status" in manifest:
        status = {"status": manifest["status"]}
        await _send(session, "PATCH", f"{client.path(manifest)}/status", status, MERGE)


async def _send(
    session: aiohttp.ClientSession,
    method: str,
    path: str,
    body: Json,
    content_type: str = "application/json",
) -> None:
    headers = {"Content-Type": content_type}
    async with session.request(method, path, data=json.dumps(body), headers=headers) as answer:
        if answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status}: {await answer.text()}")
