"""Readiness of a process: what it waits for, and what a ready one does not do yet."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from devcluster.http.faults.rules import (
    CutConnection,
    FaultAction,
    FaultResponse,
    Hang,
    status_response,
)
from devcluster.server import DevCluster
from tests.integration.process.reporter_process import (
    events,
    running_reporter,
    scale_to_zero,
    server,
)


__all__ = ["server"]


async def test_it_is_ready_only_after_every_kind_was_listed(server: DevCluster, tmp_path: Path):
    server.faults.add(Hang(), method="GET", path=r"^/api/v1/pods\?")
    flags = ("--leader-elect=false", "--resync-seconds=1")
    async with running_reporter(server, tmp_path, *flags) as reporter:
        await reporter.until(lambda: any("/pods?" in path for _, path in server.requests))
        await reporter.until(lambda: any("/deployments?" in path for _, path in server.requests))
        started = asyncio.get_running_loop().time()
        scale_to_zero(server)
        while asyncio.get_running_loop().time() - started < 1:
            status, text = await reporter.get("/readyz")
            assert (status, text.splitlines()[0]) == (503, "not every kind was listed yet")
            assert "pods" in text
            assert (await reporter.get("/livez"))[0] == 200
            await asyncio.sleep(0.1)
        assert events(server) == []
        server.faults.clear()
        await reporter.wait_ready()
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])


async def test_it_does_not_wait_for_a_kind_that_the_api_server_keeps_failing(
    server: DevCluster, tmp_path: Path
):
    failed = status_response(500, "InternalError", "conversion webhook failed: refused")
    server.faults.add(failed, method="GET", path=r"^/apis/kaito.sh/\w+/inferencesets(\?|$)")
    flags = ("--leader-elect=false", "--resync-seconds=1")
    async with running_reporter(server, tmp_path, *flags) as reporter:
        await reporter.wait_ready()
        _, text = await reporter.get("/readyz")
        kind = "inferencesets.kaito.sh"
        assert f"not read: {kind}: conversion webhook failed: refused" in text.splitlines()
        status = json.loads((await reporter.get("/status"))[1])
        assert "inferencesetScalingMisconfigured" in status["unread"][kind]["unknown"]
        unknown = {"layer": "modeldeployment", "reason": "inferencesetScalingMisconfigured"}
        assert (
            await reporter.metric(
                "reason_state", state="unknown", **unknown, workload_namespace=""
            )
            == 1
        )
        server.faults.clear()

        async def is_all_known() -> bool:
            return await reporter.get("/readyz") == (200, "ok\n")

        await reporter.until(is_all_known)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (FaultResponse(407, b"Proxy Authentication Required"), "Proxy Authentication Required"),
        (FaultResponse(200, b"<!DOCTYPE html><html>sign in</html>"), "not a list"),
        (FaultResponse(403, b"denied by policy"), "denied by policy"),
        (FaultResponse(404, b"404 page not found\n"), "404 Not Found"),
        (CutConnection(), ""),
    ],
    ids=["407", "page to sign in", "403 of a proxy", "404 of a proxy", "nobody"],
)
async def test_what_a_proxy_answers_for_the_api_server_makes_nothing_ready(
    server: DevCluster, tmp_path: Path, answer: FaultAction, why: str
):
    server.faults.add(answer)
    async with running_reporter(server, tmp_path, "--resync-seconds=1") as reporter:
        await reporter.until(lambda: len(server.requests) > 20)

        async def has_passed() -> bool:
            return json.loads((await reporter.get("/status"))[1])["lastPass"] is not None

        await reporter.until(has_passed)
        status, text = await reporter.get("/readyz")
        assert (status, text.splitlines()[0]) == (503, "not every kind was listed yet")
        assert "namespaces" in text
        assert why in text
        server.faults.clear()

        async def is_ready() -> bool:
            return await reporter.get("/readyz") == (200, "ok\n")

        await reporter.until(is_ready)


async def test_a_leader_that_cannot_read_earlier_events_is_ready_and_shows_why_it_announces_nothing(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    busy = status_response(503, "ServiceUnavailable", "unable", {"Retry-After": "3600"})
    fault = server.faults.add(busy, method="GET", path="/api/v1/namespaces/kube-system/events")
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.until(lambda: fault.hits)
        await reporter.wait_ready()

        async def is_waiting() -> bool:
            return "not announcing" in (await reporter.get("/readyz"))[1]

        await reporter.until(is_waiting)
        assert await reporter.metric("leader") == 1
        status, text = await reporter.get("/readyz")
        assert (status, text.splitlines()[0]) == (200, "ok")
        unread, line = text.splitlines()[1:]
        assert unread.startswith("not read: events: Earlier Events have not been read yet: ")
        pause = r"not announcing: earlier Events, which are read again after 60 s: .*unable"
        assert re.fullmatch(pause, line)
        assert events(server) == []


async def test_a_leader_that_has_read_earlier_events_is_ready_without_a_word_about_them(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    busy = status_response(503, "ServiceUnavailable", "unable")
    fault = server.faults.add(busy, method="GET", path="/api/v1/namespaces/kube-system/events")
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:

        async def is_waiting() -> bool:
            return "not announcing" in (await reporter.get("/readyz"))[1]

        await reporter.until(is_waiting)
        server.faults.clear(fault)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        assert await reporter.get("/readyz") == (200, "ok\n")
