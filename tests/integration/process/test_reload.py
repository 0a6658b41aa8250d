"""A process whose overlay changes while it runs."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from devcluster.example.team import TEAM
from devcluster.http.faults.rules import Hang
from devcluster.server import DevCluster
from reporter.model.enums import Layer
from tests.integration.process.reporter_process import (
    BBR,
    RunningReporter,
    events,
    running_reporter,
    scale_to_zero,
    server,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.mounted_file import MountedFile
from tests.support.setting_reason import SETTING, setting_overlay


__all__ = ["server"]

EXT_AUTHZ = ("envoyfilters.networking.istio.io", TEAM, "apikey-ext-authz")
FLAGS = (
    "--startup-grace-seconds=0",
    "--settle-seconds=1",
    "--leader-elect=false",
    "--resync-seconds=2",
)
DASHBOARD = """\
add:
  - reason: clusterDashboardNotReady
    layer: cluster
    type: Warning
    owner: platform
    rank: 5
    probe: deployments
    parameters: { components: [{ name: dashboard, namespace-flag: kaito-namespace }] }
    message: "{object} {state}{pods}."
    remedy: { default: Restart it. }
"""
MODELS_OFF = "reasons:\n" + "".join(
    f"  {entry.reason}: {{ enabled: false }}\n"
    for layer in (Layer.MODELHARNESS, Layer.MODELDEPLOYMENT)
    for entry in DEFAULT_CATALOGUE.evaluated_entries(layer)
)
NEARLY_ALL_OFF = "reasons:\n" + "".join(
    f"  {entry.reason}: {{ enabled: false }}\n"
    for entry in DEFAULT_CATALOGUE.entries.values()
    if entry.is_evaluated and entry.reason != "clusterCRDMissing"
)


@asynccontextmanager
async def reporter_with(
    server: DevCluster, folder: Path, overlay: MountedFile
) -> AsyncIterator[RunningReporter]:
    flags = (*FLAGS, f"--catalogue-overlay={overlay.path}")
    async with running_reporter(server, folder, *flags) as reporter:
        await reporter.wait_ready()
        yield reporter


async def take_router_out(server: DevCluster, reporter: RunningReporter) -> None:
    """Scale the router to zero, and wait for its one Event."""
    scale_to_zero(server)
    await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])


async def some_passes(reporter: RunningReporter) -> None:
    """Wait for three further passes."""
    before = await reporter.metric("pass_duration_seconds_count")

    async def counted() -> bool:
        return await reporter.metric("pass_duration_seconds_count") >= before + 3

    await reporter.until(counted)


async def reloaded(reporter: RunningReporter, result: str, times: int = 1) -> None:
    async def counted() -> bool:
        return await reporter.metric("overlay_reloads_total", result=result) == times

    await reporter.until(counted)


async def test_an_episode_goes_on_and_a_new_reason_is_announced(
    server: DevCluster, tmp_path: Path
):
    overlay = MountedFile(tmp_path / "mount", "reasons: {}\n")
    async with reporter_with(server, tmp_path, overlay) as reporter:
        await take_router_out(server, reporter)
        overlay.write(DASHBOARD)
        await reporter.until(lambda: len(events(server)) == 2)
        assert events(server) == ["clusterBBRNotReady x1", "clusterDashboardNotReady x1"]
        assert "switched on: clusterDashboardNotReady" in reporter.log
        assert await reporter.metric("overlay_reloads_total", result="applied") == 1
        assert (
            await reporter.metric("reason_state", state="active", reason="clusterBBRNotReady") == 1
        )


async def test_a_reason_that_goes_ends_without_a_ready(server: DevCluster, tmp_path: Path):
    overlay = MountedFile(tmp_path / "mount", "reasons: {}\n")
    async with reporter_with(server, tmp_path, overlay) as reporter:
        await take_router_out(server, reporter)
        overlay.write("reasons: { clusterBBRNotReady: { enabled: false } }\n")
        await reloaded(reporter, "applied")
        server.cluster.patch(*BBR, {"spec": {"replicas": 1}})
        await some_passes(reporter)
        assert (
            await reporter.metric("reason_state", state="active", reason="clusterBBRNotReady") == 0
        )
        overlay.write("reasons: {}\n")
        await reloaded(reporter, "applied", 2)
        assert events(server) == ["clusterBBRNotReady x1"]


async def test_a_broken_overlay_is_refused_until_it_is_right(server: DevCluster, tmp_path: Path):
    overlay = MountedFile(tmp_path / "mount", "reasons: {}\n")
    async with reporter_with(server, tmp_path, overlay) as reporter:
        overlay.write("reasons: { clusterBBRNotRedy: { enabled: false } }\n")
        await reloaded(reporter, "refused")
        assert await reporter.metric("overlay_refused") == 1
        assert f"{overlay.path}:1: unknown reason `clusterBBRNotRedy`" in reporter.log
        assert "overlay refused" in (await reporter.get("/readyz"))[1]
        await take_router_out(server, reporter)
        overlay.remove()
        await reloaded(reporter, "refused", 2)
        assert "cannot be read: No such file or directory" in reporter.log
        overlay.path.symlink_to(f"..data/{overlay.path.name}")
        overlay.write("reasons: {}\n")
        await reloaded(reporter, "applied")
        assert await reporter.metric("overlay_refused") == 0


async def test_an_episode_goes_on_while_its_kind_is_listed_anew(
    server: DevCluster, tmp_path: Path
):
    meta = {"name": "checked", "namespace": "default", "labels": {"checked": "reload"}}
    setting = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    server.cluster.upsert({**setting, "data": {"good": "no", "more": "yes"}})
    overlay = MountedFile(
        tmp_path / "mount", setting_overlay('object.data.good == "yes"', hold="0s")
    )
    async with reporter_with(server, tmp_path, overlay) as reporter:
        await reporter.until(lambda: events(server) == [f"{SETTING} x1"])
        hang = server.faults.add(Hang(), path="/configmaps(?!.*watch=1)")
        overlay.write(
            setting_overlay('object.data.good == "yes" && object.data.more == "yes"', hold="0s")
        )
        await reporter.until(lambda: hang.hits > 0)
        server.cluster.upsert({**setting, "data": {"good": "yes", "more": "yes"}})
        await some_passes(reporter)
        assert await reporter.metric("reason_state", state="unknown", reason=SETTING) == 1
        assert events(server) == [f"{SETTING} x1"]
        server.cluster.upsert({**setting, "data": {"good": "yes", "more": "no"}})
        server.faults.clear(hang)

        async def known() -> bool:
            return await reporter.metric("reason_state", state="unknown", reason=SETTING) == 0

        await reporter.until(known)
        server.cluster.upsert({**setting, "data": {"good": "yes", "more": "yes"}})
        await reporter.until(lambda: "clusterReady x1" in events(server))
        assert events(server) == ["clusterReady x1", f"{SETTING} x1"]


async def test_kinds_that_become_needed_are_watched(server: DevCluster, tmp_path: Path):
    overlay = MountedFile(tmp_path / "mount", MODELS_OFF)
    async with reporter_with(server, tmp_path, overlay) as reporter:
        _, page = await reporter.get("/metrics")
        assert 'kind="inferencesets.kaito.sh"' not in page
        overlay.write("reasons: {}\n")

        async def watched() -> bool:
            return await reporter.metric("watch_up", kind="inferencesets.kaito.sh") == 1

        await reporter.until(watched)
        asks = server.cluster.get(*EXT_AUTHZ)
        assert asks is not None
        wrong = json.dumps(asks["spec"]).replace("llm-gateway-auth.", "never-was.")
        server.cluster.patch(*EXT_AUTHZ, {"spec": json.loads(wrong)})
        await reporter.until(lambda: events(server) == ["modelharnessExtAuthzProviderMissing x1"])


async def test_kinds_that_nothing_needs_any_more_are_read_no_more(
    server: DevCluster, tmp_path: Path
):
    overlay = MountedFile(tmp_path / "mount", "reasons: {}\n")
    async with reporter_with(server, tmp_path, overlay) as reporter:
        await take_router_out(server, reporter)
        overlay.write(NEARLY_ALL_OFF)

        async def unwatched() -> bool:
            return 'kind="pods"' not in (await reporter.get("/metrics"))[1]

        await reporter.until(unwatched)
        await some_passes(reporter)
        overlay.write("reasons: {}\n")
        await reloaded(reporter, "applied", 2)

        async def found_again() -> bool:
            return (
                await reporter.metric("reason_state", state="active", reason="clusterBBRNotReady")
                == 1
            )

        await reporter.until(found_again)
        assert "Traceback" not in reporter.log
