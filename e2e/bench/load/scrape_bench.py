"""
A reporter that may read this machine's addresses, and what serves pages there.
"""

import json
import math
import os
import resource
import sys
import time
import urllib.request
from pathlib import Path

from e2e.bench.load.deployments import INFERENCE_SETS
from e2e.bench.load.loading_pods import LoadingPods
from e2e.controlplane import ControlPlane, WaitTimeout, until
from e2e.controlplane.processes import free_port
from e2e.support import events
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack.inference_sets import INVALID_REASON, RIGHT, WRONG
from e2e.support.reporter_process import ReporterProcess


ROOT = Path(__file__).parents[3]
INTERVAL = 15
CHANGES = 10
START = 300
READ_TIMEOUT = 60
SETTLED = 10
"""
Seconds in which the reporter notices which pods it has no longer to ask, and what waits is dropped.
"""

FILES = 1_024
"""
That the reporter may have open, which is the usual limit.
"""


class ScrapeBench:
    """
    *pods*: those that load a model.
    """

    def __init__(self, plane: ControlPlane, inference_sets: int) -> None:
        self.plane, self.pods = plane, LoadingPods(plane, inference_sets)
        self._port = free_port()
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "e2e.bench.load.page_server", str(self._port)]
        plane.run("pages", command, env)
        self.reporter = ReporterProcess(
            plane,
            "--startup-grace-seconds=0",
            "--settle-seconds=1",
            f"--scrape-interval-seconds={INTERVAL}",
            f"--weight-download-metric-port={self._port}",
            "--scrape-mode=direct",
            env={"PYTHONPATH": str(ROOT)},
            program=(sys.executable, "-m", "e2e.faults.support.loopback_reporter"),
        ).start(ready=False)
        resource.prlimit(self._pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        self.reporter.until_ready(within=START)
        self._others = self._pods()

    @property
    def _pid(self) -> int:
        assert self.reporter.process is not None
        return self.reporter.process.pid

    def take_requests(self) -> list[tuple[float, str]]:
        """
        When which address was asked and answered, since the last call.
        """
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/asked") as answer:
            return [(at, address) for at, address in json.load(answer)]

    def during(self, seconds: float) -> tuple[list[tuple[float, str]], float]:
        """
        Who is asked in the next *seconds*, and what that costs the reporter of its processor.
        """
        self.take_requests()
        before = self.usage().cpu
        time.sleep(seconds)
        return self.take_requests(), self.usage().cpu - before

    def usage(self) -> ProcessUsage:
        return ProcessUsage.of(self._pid)

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self._pid}/fd").iterdir()))

    def clear(self) -> None:
        """
        Without pods that load a model, none of which is asked any more.
        """
        self.pods.remove_all()
        until(lambda: self._pods() == self._others, within=START, what="the pods are gone")
        time.sleep(SETTLED)
        self.take_requests()

    def _pods(self) -> float:
        return self.reporter.metric("objects", kind="pods")

    def measure_announcements(self) -> list[float]:
        """
        Seconds until the Event of a change can be read, of several; infinite if that takes too long.
        """
        client, took = self.plane.client, []
        for each in client.list(INFERENCE_SETS, limit=str(CHANGES)):
            meta = each["metadata"]
            where = (meta["namespace"], "inferencesets", meta["name"])
            path = "/".join(("/apis/kaito.sh/v1beta1/namespaces", *where))
            begun, about = time.monotonic(), f"{meta['namespace']}/{meta['name']}:"
            client.patch(path, {"metadata": {"annotations": WRONG}})
            try:
                events.wait_for(client, INVALID_REASON, within=READ_TIMEOUT, saying=about)
                took.append(time.monotonic() - begun)
            except WaitTimeout:
                took.append(math.inf)
            client.patch(path, {"metadata": {"annotations": RIGHT}})
        return took

    def wait_all_read(self, many: int, *, within: float) -> tuple[int, float]:
        """
        How many different pods were read and after how many seconds the last of them, waiting no
        longer than *within* for all.
        """
        seen: set[str] = set()
        begun = last = time.time()
        while len(seen) < many and time.time() < begun + within:
            time.sleep(0.5)
            for at, address in self.take_requests():
                if address not in seen:
                    seen.add(address)
                    last = max(last, at)
        return len(seen), last - begun
