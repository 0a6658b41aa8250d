"""The process as a whole: how it starts, what it serves, how it ends."""

import asyncio
import json
import re
import signal
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from devcluster.http.faults.rules import (
    Hang,
)
from devcluster.server import DevCluster
from reporter import app
from reporter.controller.enabled_scrapes import scraping_reasons
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.registry import SPECS
from reporter.kube.connect import connect
from reporter.process.clock import Clock
from reporter.settings import load_settings
from tests.integration.process.reporter_process import (
    BBR,
    WAIT_TIMEOUT,
    events,
    holder,
    running_reporter,
    scale_to_zero,
    server,
    value_of,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


__all__ = ["server"]

SCRAPING = scraping_reasons(DEFAULT_CATALOGUE, SPECS)
"""The reasons that are unknown here: no pod of the example stack serves a metrics page."""


async def test_it_announces_and_releases_the_lease_on_sigterm(server: DevCluster, tmp_path: Path):
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        await reporter.until(lambda: holder(server))
        assert (holder(server) or "").startswith("reporter-0_")
        await reporter.wait_for_metric(1, "leader")
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        await reporter.until(lambda: "announced, was" in reporter.log)
        (event,) = server.cluster.list("events", "kube-system")
        assert event["reportingInstance"] == "reporter-0"
        assert await reporter.stop() == 0
        assert holder(server) == ""
        assert "stopping" in reporter.log
        assert "Traceback" not in reporter.log


async def test_it_logs_at_start_how_many_reasons_are_on_and_disabled(
    server: DevCluster, tmp_path: Path
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons:\n  clusterKedaNotReady:\n    enabled: false\n")
    async with running_reporter(server, tmp_path, f"--catalogue-overlay={overlay}") as reporter:
        await reporter.until(lambda: "reasons are on" in reporter.log)
        (line,) = (line for line in reporter.lines if "reasons are on" in line)
        on, every, off = re.search(r"(\d+) of (\d+) reasons are on, (\d+) disabled", line).groups()
        by_default = len(DEFAULT_CATALOGUE.disabled_reasons)
        assert (int(every), int(off)) == (len(DEFAULT_CATALOGUE.entries), by_default + 1)
        assert int(on) + int(off) == int(every)
        assert line == reporter.lines[1]


async def test_outside_of_a_pod_it_says_first_to_which_cluster_it_writes(
    server: DevCluster, tmp_path: Path
):
    async with running_reporter(server, tmp_path) as elected:
        await elected.until(lambda: elected.lines)
        assert f"writes Events to context devcluster ({server.url}), once" in elected.lines[0]
        assert "Lease kaito-system/productionstack-status-reporter" in elected.lines[0]
    async with running_reporter(server, tmp_path, "--leader-elect=false") as alone:
        await alone.until(lambda: alone.lines)
        assert f"writes Events to context devcluster ({server.url}), beside" in alone.lines[0]


async def test_a_dry_run_prints_events_and_writes_nothing(server: DevCluster, tmp_path: Path):
    flags = ("--dry-run", "--mirror-events", "--status-objects", "--store=healthevents")
    async with running_reporter(server, tmp_path, *flags) as reporter:
        await reporter.wait_ready()
        assert "prints Events and writes nothing" in reporter.lines[0]
        scale_to_zero(server)
        await reporter.until(lambda: " Warning clusterBBRNotReady namespace/" in reporter.log)
        assert await reporter.metric("leader") == 1
        assert await reporter.stop() == 0
    writes = [each for each in server.requests if each[0] in {"POST", "PUT", "PATCH", "DELETE"}]
    reviews = [path for _, path in writes if "/selfsubject" in path]
    assert len(reviews) == len(writes)
    assert events(server) == []


async def test_every_page_answers(server: DevCluster, tmp_path: Path):
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.wait_ready()
        for path in ("/livez", "/healthz", "/readyz"):
            assert await reporter.get(path) == (200, "ok\n")
        status = json.loads((await reporter.get("/status"))[1])
        assert status["leading"] is True
        assert status["kinds"]["deployments"] == "watched"
        assert {s["layer"] for s in status["subjects"]} >= {"cluster"}
        assert await reporter.metric("watch_up", kind="deployments.apps") == 1
        assert await reporter.metric("objects", kind="deployments.apps") > 5
        _, page = await reporter.get("/metrics")
        without_page = [
            value_of(page, "reason_state", state="unknown", reason=each) for each in SCRAPING
        ]
        assert value_of(page, "reason_state", state="unknown") == sum(without_page)
        assert await reporter.metric("event_loop_lag_seconds_count") > 0


async def test_without_election_it_announces_at_once_and_has_no_lease(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        assert await reporter.metric("leader") == 1
        assert holder(server) == ""
        assert await reporter.stop(signal.SIGINT) == 0
    assert not any("/leases" in path for _, path in server.requests)


async def test_of_two_replicas_one_announces_and_both_are_ready(
    server: DevCluster, tmp_path: Path
):
    async with running_reporter(server, tmp_path, pod="a") as first:
        await first.until(lambda: holder(server))
        async with running_reporter(server, tmp_path, pod="b") as second:
            await second.wait_ready()
            await second.until(lambda: "standing by" in second.log)
            scale_to_zero(server)
            await second.until(lambda: events(server) == ["clusterBBRNotReady x1"])
            (event,) = server.cluster.list("events", "kube-system")
            assert event["reportingInstance"] == "a"
            assert [await r.metric("leader") for r in (first, second)] == [1, 0]
            for each in (first, second):
                await each.wait_for_metric(
                    1, "reason_state", state="active", reason="clusterBBRNotReady"
                )
            assert await second.metric("event_writes_total") == 0
            assert await first.stop() == 0
            assert not (holder(server) or "").startswith("a_"), "it is released before the end"
            await second.until(lambda: (holder(server) or "").startswith("b_"))
            await second.wait_for_metric(1, "leader")
            assert events(server) == ["clusterBBRNotReady x1"]


async def test_a_process_that_is_killed_and_restarted_continues_its_event(
    server: DevCluster, tmp_path: Path
):
    flags = ("--leader-elect=false", "--settle-seconds=1")
    scale_to_zero(server)
    async with running_reporter(server, tmp_path, *flags) as first:
        await first.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        first.process.kill()
        await first.process.wait()
    async with running_reporter(server, tmp_path, *flags) as second:
        await second.until(lambda: "announced, was" in second.log)
        start_delay = timedelta(milliseconds=100)
        controllers = asyncio.create_task(server.run_controllers(start=start_delay))
        server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
        ready = ["clusterBBRNotReady x1", "clusterReady x1"]
        await second.until(lambda: events(server) == ready)
        await second.wait_for_metric(1, "event_writes_total")
        controllers.cancel()


async def test_a_bug_in_one_task_stops_the_process_and_releases_the_lease(
    server: DevCluster, tmp_path: Path
):
    api = await connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})
    nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
    settings = load_settings(nowhere, {"POD_NAMESPACE": "kaito-system"}, hostname="laptop")
    wired = app.Reporter(settings, DEFAULT_CATALOGUE, api, Clock())

    class Broken:
        def follow(self, finished: FinishedPass) -> Iterable[None]:
            if wired._leadership.is_leader:
                raise RuntimeError("a bug")
            return ()

    wired._controller._followers = (Broken(),)
    running = asyncio.create_task(wired.run())
    async with asyncio.timeout(WAIT_TIMEOUT):
        while not wired._leadership.is_leader:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        scale_to_zero(server)
        with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="a bug")):
            await running
    assert holder(server) == ""
    await api.close()


async def test_a_server_that_hangs_does_not_keep_it_from_ending(
    server: DevCluster, tmp_path: Path
):
    server.faults.add(Hang())
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.until(lambda: any("/leases/" in path for _, path in server.requests))
        assert (await reporter.get("/livez"))[0] == 200
        assert await reporter.stop() == 0
        assert "Traceback" not in reporter.log
