"""
Take the picture of the status page in docs/: the example stack during an outage.

``python -m tests.integration.page.screenshot FILE``
"""

import argparse
import asyncio
import json
import tempfile
from datetime import datetime
from pathlib import Path

from devcluster.demo.live_stack import run_live_stack
from devcluster.example import team
from devcluster.example.stack import STACK_AGE, with_running_pods
from devcluster.example.team import MODEL, TEAM, WORKSPACE
from devcluster.schema import times
from devcluster.server import DevCluster
from reporter.process.clock import Clock
from tests.integration.page.browser_page import BrowserPage, start_browser
from tests.integration.process.reporter_process import running_reporter


KAITO = ("deployments.apps", "kaito-system", "kaito-workspace")
ROUTER = ("deployments.apps", "kaito-system", "body-based-router")
SIZE = (1200, 1230)
OTHER_TEAM, OTHER_MODEL = "team-b", "llama"


def short_holds(folder: Path) -> tuple[str, ...]:
    """Return flags with which a lost pod is a finding after a second."""
    overlay = folder / "overlay.yaml"
    hold = "{failed: 1s, lost: 1s}"
    overlay.write_text(f"reasons:\n  inferencesetModelPodsNotReady:\n    hold: {hold}\n", "utf-8")
    return (f"--catalogue-overlay={overlay}",)


def break_kaito_and_the_model(server: DevCluster) -> None:
    """Scale KAITO's controller to zero, and lose the model's pod, which nobody makes anew then."""
    server.cluster.patch(*KAITO, {"spec": {"replicas": 0}}, subresource="scale")
    server.cluster.delete("pods", TEAM, f"{WORKSPACE}-0")


def add_team(server: DevCluster, now: datetime) -> None:
    """Store the team of the example stack a second time, under other names."""
    created = now - STACK_AGE
    deployments = (each for one in team.deployments() for each in with_running_pods(one, created))
    text = json.dumps([team.namespace(), *deployments, *team.manifests(created)])
    for manifest in json.loads(text.replace(TEAM, OTHER_TEAM).replace(MODEL, OTHER_MODEL)):
        manifest["metadata"].setdefault("creationTimestamp", times.format_time(created))
        server.cluster.upsert(manifest)


async def take(file: Path, folder: Path) -> None:
    driver, clock = await asyncio.to_thread(start_browser), Clock()
    try:
        async with (
            run_live_stack(clock) as server,
            running_reporter(server, folder, *short_holds(folder)) as reporter,
        ):
            add_team(server, clock.now())
            await reporter.wait_ready()
            break_kaito_and_the_model(server)
            server.cluster.patch(*ROUTER, {"spec": {"replicas": 0}}, subresource="scale")
            page = BrowserPage(driver)
            await page.emulate(SIZE)
            await page.open(f"http://{reporter.health_at}/")
            await page.until_text("#causes", "clusterKaitoControllerNotReady")
            await page.until_text(f"[data-id='set/{TEAM}/qwen']", "suppressed")
            await page.until_text(f"[data-id='namespace/{TEAM}']", "Failed")
            await page.until_text("#causes", "2 models not available")
            await page.until_text("#causes", "1 suppressed")
            await page.until_text("#cluster", "Available: 0 of 2")
            await page.click("#causes .follows summary")
            await page.until_text("#causes", f"{OTHER_TEAM}/{OTHER_MODEL} through Gateway")
            await page.click("[data-id=cluster] .twisty")
            await page.click(f"[data-id='set/{OTHER_TEAM}/{OTHER_MODEL}']")
            await page.run("scrollTo(0, 0)")
            await page.screenshot(file)
    finally:
        await asyncio.to_thread(driver.quit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(take(parser.parse_args().file, Path(folder)))


if __name__ == "__main__":
    main()
