"""A process in which a fault keeps it from changing to another catalogue."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from devcluster.server import DevCluster
from reporter.app import Reporter
from reporter.catalogue.entries import Catalogue
from reporter.cli.configuration import load_shipped_catalogue
from reporter.kube.connect import connect
from reporter.process.clock import Clock
from reporter.settings import load_settings
from tests.integration.process.reporter_process import events, server
from tests.integration.process.test_reload import DASHBOARD
from tests.support.background import running_beside
from tests.support.faulty_catalogues import FAULT, with_faulty_keys, with_faulty_probe
from tests.support.metrics_text import metrics_text
from tests.support.mounted_file import MountedFile
from tests.support.setting_reason import SETTING, setting_overlay
from tests.support.stubs.api_servers import until as until_within


__all__ = ["server"]

until = partial(until_within, within=60)

ADDED = "clusterDashboardNotReady"
OVERLAYS = {
    "one": setting_overlay('object.data.one == "yes"', hold="0s"),
    "two": setting_overlay('object.data.two == "yes"', hold="0s")
    + DASHBOARD.removeprefix("add:\n"),
}
FLAGS = (
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    "--startup-grace-seconds=0",
    "--settle-seconds=0",
    "--leader-elect=false",
)


@pytest.fixture
def catalogues(tmp_path: Path) -> Mapping[str, Catalogue]:
    """Two catalogues, and the second one with faults, by the words in the file."""
    file, found = tmp_path / "overlay.yaml", {}
    for word, text in OVERLAYS.items():
        file.write_text(text)
        found[word] = load_shipped_catalogue(file)
    return {
        **found,
        "faulty": with_faulty_keys(found["two"], SETTING),
        "faulty probe": with_faulty_probe(found["two"], SETTING),
    }


@asynccontextmanager
async def running(
    server: DevCluster, folder: Path, overlay: MountedFile, catalogues: Mapping[str, Catalogue]
) -> AsyncIterator[Reporter]:
    """Run the parts of a process, of which the end fails the test."""
    flags = [*FLAGS, f"--catalogue-overlay={overlay.path}"]
    settings = load_settings(flags, {"POD_NAMESPACE": "kaito-system"}, hostname="laptop")
    api = await connect(str(server.write_kubeconfig(folder / "kubeconfig")), environ={})

    def load() -> Catalogue:
        return catalogues[overlay.path.read_text()]

    try:
        reporter = Reporter(settings, load(), api, Clock(), load)
        assert reporter._overlay_watch is not None
        reporter._overlay_watch._interval = timedelta(milliseconds=20)
        async with running_beside(reporter.run(), "reporter"):
            await until(reporter._controller.pass_times.first_finished.is_set)
            yield reporter
    finally:
        await api.close()


def a_setting(one: str, two: str) -> dict[str, object]:
    meta = {"name": "any", "namespace": "default", "labels": {"checked": "reload"}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta,
        "data": {"one": one, "two": two},
    }


async def test_a_fault_is_a_refused_reload_and_the_catalogue_before_stays(
    server: DevCluster, tmp_path: Path, catalogues: Mapping[str, Catalogue], caplog
):
    overlay = MountedFile(tmp_path / "mount", "one")
    server.cluster.upsert(a_setting("yes", "yes"))
    async with running(server, tmp_path, overlay, catalogues) as reporter:
        series = "productionstack_status_reporter_overlay"

        def shows(sample: str) -> bool:
            return f"{series}{sample}\n" in metrics_text(reporter.metrics)

        overlay.write("faulty")
        await until(lambda: shows('_reloads_total{result="refused"} 1.0'))
        assert shows("_refused 1.0")
        assert shows('_reloads_total{result="applied"} 0.0')
        assert f"RuntimeError: {FAULT}" in reporter._why_overlay_refused()
        assert FAULT in caplog.text
        assert ADDED not in metrics_text(reporter.metrics)
        server.cluster.upsert(a_setting("no", "yes"))
        await until(lambda: events(server) == [f"{SETTING} x1"])
        overlay.write("two")
        await until(lambda: shows('_reloads_total{result="applied"} 1.0'))
        assert shows("_refused 0.0")
        assert ADDED in metrics_text(reporter.metrics)


async def test_a_probe_that_fails_in_the_changed_catalogue_costs_its_reason_only(
    server: DevCluster, tmp_path: Path, catalogues: Mapping[str, Catalogue], caplog
):
    overlay = MountedFile(tmp_path / "mount", "one")
    server.cluster.upsert(a_setting("yes", "yes"))
    async with running(server, tmp_path, overlay, catalogues) as reporter:
        overlay.write("faulty probe")
        fault = f"{SETTING} of cluster is Unknown: its probe failed with AttributeError"
        await until(lambda: fault in caplog.text)
        assert "Traceback" in caplog.text
        await until(lambda: states(reporter) == {"unknown"})
        overlay.write("two")
        server.cluster.upsert(a_setting("yes", "no"))
        await until(lambda: states(reporter) == {"active", "outranked"})


def states(reporter: Reporter) -> set[str]:
    """Return the states of the reason, as the metrics page shows them."""
    return {
        sample.labels["state"]
        for family in text_string_to_metric_families(metrics_text(reporter.metrics))
        for sample in family.samples
        if sample.name.endswith("_reason_state")
        if sample.labels["reason"] == SETTING
        if sample.value
    }
