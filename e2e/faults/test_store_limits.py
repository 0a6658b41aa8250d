"""
More findings than HealthEvents may exist: 1,500 at a limit of 1,000. It takes some fifteen minutes.
"""

import json
import threading
from collections.abc import Iterator
from typing import Self

import pytest

from e2e.controlplane import Client, ControlPlane, Json, until
from e2e.support import events, health_events
from e2e.support.health_events import FLAGS, PATH
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]

FINDINGS, LIMIT = 1_500, 1_000
TOO_MANY = FINDINGS - LIMIT
FULL = "clusterHealthEventStoreFull"
MAX_BYTES = 4096
WRITTEN = 600
"""Seconds within which all is written: 1,500 Events at ten a second, or 1,000 objects at five."""


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with inference_sets.bare_plane(FINDINGS) as plane, health_events.installed_crd(plane):
        yield plane


class ObjectCount:
    """Counts the objects all the time; *most*: the largest number seen."""

    def __init__(self, client: Client) -> None:
        self._client, self._ended = client, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.most = self.looks = 0

    def _run(self) -> None:
        while not self._ended.wait(0.2):
            found = self._client.get(PATH, limit="1")
            left = found["metadata"].get("remainingItemCount", 0)
            self.most = max(self.most, len(found["items"]) + left)
            self.looks += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def test_limit_is_never_exceeded_and_what_it_rejects_has_a_place_once_there_is_room(
    plane: ControlPlane,
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter, ObjectCount(client) as count:
        for number in range(FINDINGS):
            inference_sets.misconfigure(client, number)
        until(
            lambda: _rejected(reporter) == TOO_MANY and _kept(reporter, "Active") == LIMIT,
            within=WRITTEN,
            what=f"{LIMIT} have a place and {TOO_MANY} have none",
        )
        until(
            lambda: len(events.reporter_events(client, INVALID_REASON)) == FINDINGS,
            within=WRITTEN,
            what="all are announced",
        )
        full = events.wait_for(client, FULL, within=WRITTEN)
        assert len(events.reporter_events(client, FULL)) == 1
        assert "--store-max=1000" in full.message
        kept = {each["spec"]["subject"]: each["metadata"]["uid"] for each in _objects(client)}
        assert len(kept) == LIMIT
        repaired = sorted(kept)[:TOO_MANY]
        for number in range(FINDINGS):
            if inference_sets.name(number) in repaired:
                inference_sets.repair(client, number)
        running = {inference_sets.name(number) for number in range(FINDINGS)} - {*repaired}
        until(
            lambda: reporter.metric("store_writes_total", result="created") == FINDINGS,
            within=WRITTEN,
            what="all that goes on has a place",
        )
        now, stayed = _active(client), kept.keys() & running
        assert now.keys() == running
        assert {each: now[each] for each in stayed} == {each: kept[each] for each in stayed}
        until(lambda: FULL not in reporter.states(), within=WRITTEN, what="the store is not full")
        assert _rejected(reporter) == TOO_MANY
        assert "Traceback" not in reporter.log()
    assert count.most == LIMIT
    assert count.looks > TOO_MANY / 5
    assert max(len(json.dumps(each)) for each in _objects(client)) <= MAX_BYTES


def _rejected(reporter: ReporterProcess) -> float:
    return reporter.metric("store_rejected_total", limit="cluster")


def _kept(reporter: ReporterProcess, phase: str) -> float:
    return reporter.metric("store_objects", phase=phase)


def _objects(client: Client) -> list[Json]:
    return health_events.objects(client)


def _active(client: Client) -> dict[str, str]:
    return {
        each["spec"]["subject"]: each["metadata"]["uid"]
        for each in _objects(client)
        if each["status"]["phase"] == "Active"
    }
