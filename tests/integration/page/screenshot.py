"""
Take the picture of the status page in docs/: the example stack during an outage.

``python -m tests.integration.page.screenshot FILE``
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from devcluster.demo.live_stack import run_live_stack
from devcluster.example.team import TEAM, WORKSPACE
from devcluster.server import DevCluster
from reporter.process.clock import Clock
from tests.integration.page.browser_page import BrowserPage, start_browser
from tests.integration.process.reporter_process import running_reporter


KAITO = ("deployments.apps", "kaito-system", "kaito-workspace")
SIZE = (1040, 940)


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


async def take(file: Path, folder: Path) -> None:
    driver = await asyncio.to_thread(start_browser)
    try:
        async with (
            run_live_stack(Clock()) as server,
            running_reporter(server, folder, *short_holds(folder)) as reporter,
        ):
            await reporter.wait_ready()
            break_kaito_and_the_model(server)
            page = BrowserPage(driver)
            await page.emulate(SIZE)
            await page.open(f"http://{reporter.health_at}/")
            await page.until_text("#causes", "clusterKaitoControllerNotReady")
            await page.until_text(f"[data-id='set/{TEAM}/qwen']", "suppressed")
            await page.until_text(f"[data-id='namespace/{TEAM}']", "Failed")
            await page.click(f"[data-id='set/{TEAM}/qwen']")
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
