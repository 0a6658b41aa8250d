"""
A reporter that may read this machine's addresses, and what serves pages there.
"""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

from e2e import events
from e2e.bench.causes import INFERENCE_SETS
from e2e.bench.loading_pods import LoadingPods
from e2e.controlplane import ControlPlane, until
from e2e.controlplane.processes import free_port
from e2e.faults.models import RIGHT, TROUBLE, WRONG
from e2e.faults.usage import Usage
from e2e.reporter_process import ReporterProcess


ROOT = Path(__file__).parent.parent.parent
INTERVAL = 15
CHANGES = 10
START = 300


class PageScene:
    """
    *pods*: those that load a model.
    """

    def __init__(self, plane: ControlPlane, inference_sets: int) -> None:
        self.plane, self.pods = plane, LoadingPods(plane, inference_sets)
        self._port = free_port()
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "e2e.bench.pages", str(self._port)]
        plane.run("pages", command, env)
        self.reporter = ReporterProcess(
            plane,
            "--startup-grace-seconds=0",
            "--settle-seconds=1",
            f"--scrape-interval-seconds={INTERVAL}",
            f"--weight-download-metric-port={self._port}",
            "--scrape-mode=direct",
            env={"PYTHONPATH": str(ROOT)},
            program=(sys.executable, "-m", "e2e.faults.loopback_reporter"),
        ).start(ready=False)
        self.reporter.until_ready(within=START)

    def asked(self) -> list[tuple[float, str]]:
        """
        When which address was asked and answered, since the last call.
        """
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/asked") as answer:
            return [(at, address) for at, address in json.load(answer)]

    def during(self, seconds: float) -> tuple[list[tuple[float, str]], float]:
        """
        Who is asked in the next *seconds*, and what that costs the reporter of its processor.
        """
        self.asked()
        before = self.usage().cpu
        time.sleep(seconds)
        return self.asked(), self.usage().cpu - before

    def usage(self) -> Usage:
        assert self.reporter.process is not None
        return Usage.of(self.reporter.process.pid)

    def announced(self) -> list[float]:
        """
        Seconds until the Event of a change can be read, of several.
        """
        client, took = self.plane.client, []
        for each in client.list(INFERENCE_SETS, limit=str(CHANGES)):
            meta = each["metadata"]
            where = (meta["namespace"], "inferencesets", meta["name"])
            path = "/".join(("/apis/kaito.sh/v1beta1/namespaces", *where))
            begun, about = time.monotonic(), f"{meta['namespace']}/{meta['name']}:"
            client.patch(path, {"metadata": {"annotations": WRONG}})
            events.wait_for(client, TROUBLE, within=60, saying=about)
            took.append(time.monotonic() - begun)
            client.patch(path, {"metadata": {"annotations": RIGHT}})
        return took

    def until_all_are_read(self, many: int) -> None:
        seen: set[str] = set()

        def all_seen() -> bool:
            seen.update(address for _, address in self.asked())
            time.sleep(0.5)
            return len(seen) >= many

        until(all_seen, within=60 + many / 10, what=f"{many} pods are read")
