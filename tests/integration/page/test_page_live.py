"""The status page in a browser, served by a reporter that watches a cluster in memory."""

import signal
from pathlib import Path

from devcluster.example.team import TEAM
from devcluster.server import DevCluster
from tests.integration.page.browser_page import BrowserPage
from tests.integration.page.screenshot import break_kaito_and_the_model, short_holds
from tests.integration.process.reporter_process import (
    BBR,
    running_reporter,
    scale_to_zero,
    server,
)


__all__ = ["server"]

INJECTION = "<script>window.injected=1</script><img src=x onerror=window.injected=1>"


async def test_an_outage_and_its_end(server: DevCluster, tmp_path: Path, page: BrowserPage):
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        await page.open(f"http://{reporter.health_at}/")
        await page.until_text("#cluster", "Ready")
        scale_to_zero(server)
        await page.until_text("#cluster", "Failed")
        causes = await page.until_text("#causes", "clusterBBRNotReady")
        assert "acts: platform" in causes
        assert "Remedy:" in causes
        rows = await page.rows()
        assert "Failed" in rows["component/kaito-system/body-based-router"]["text"]
        repaired = server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
        observed = {"status": {"observedGeneration": repaired["metadata"]["generation"]}}
        server.cluster.patch(*BBR, observed, subresource="status")
        await page.until_text("#cluster", "Progressing")
        assert await page.log() == []


async def test_the_cause_and_not_what_follows_from_it(
    server: DevCluster, tmp_path: Path, page: BrowserPage
):
    async with running_reporter(server, tmp_path, *short_holds(tmp_path)) as reporter:
        await reporter.wait_ready()
        break_kaito_and_the_model(server)
        await page.open(f"http://{reporter.health_at}/")
        await page.until_text("#causes", "clusterKaitoControllerNotReady")
        row = await page.until_text(f"[data-id='set/{TEAM}/qwen']", "suppressed")
        assert "↳ clusterKaitoControllerNotReady" in row


async def test_a_script_in_a_condition_is_shown_as_text(
    server: DevCluster, tmp_path: Path, page: BrowserPage
):
    condition = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": INJECTION,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    status = {"readyReplicas": 0, "availableReplicas": 0, "conditions": [condition]}
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        server.cluster.patch(*BBR, {"status": status}, subresource="status")
        await page.open(f"http://{reporter.health_at}/")
        await page.click("[data-id=cluster]")
        await page.until_text("#details", INJECTION)
        assert await page.run("return window.injected ?? null") is None
        assert await page.run("return document.querySelectorAll('img, script').length") == 1
        assert await page.log() == []


async def test_a_reporter_that_is_killed_leaves_no_health_behind(
    server: DevCluster, tmp_path: Path, page: BrowserPage
):
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        await page.open(f"http://{reporter.health_at}/")
        await page.until_text("#cluster", "Ready")
        await reporter.stop(signal.SIGKILL)
        await page.until_text("#banner", "The reporter cannot be reached since")
        assert "Unknown" in await page.text("#cluster")
