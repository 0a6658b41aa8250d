"""A reporter that may scrape loopback addresses, and the server of the pages."""

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
from e2e.support import events
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack.inference_sets import INVALID_REASON, RIGHT, WRONG
from e2e.support.reporter_process import ReporterProcess
from tests.support.ports import free_port


ROOT = Path(__file__).parents[3]
INTERVAL = 15
CHANGES = 10
START_TIMEOUT = 300
READ_TIMEOUT = 60
CALM_SECONDS = 60
"""Seconds after a start in which memory and processor time are not yet those of a steady state."""

SETTLE_SECONDS = 10
"""Seconds in which the reporter stops to scrape deleted pods."""

FILES = 1_024
"""Limit of the reporter's open files, the usual default."""


class ScrapeBench:
    """A running reporter; *pods* are those that load a model."""

    def __init__(self, plane: ControlPlane, inference_sets: int) -> None:
        self.plane, self.pods = plane, LoadingPods(plane, inference_sets)
        self.page_port = free_port()
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "e2e.bench.load.page_server", str(self.page_port)]
        plane.run("pages", command, env)
        self.reporter = self._start()
        self._other_pods = self._pods()

    def restart(self, *flags: str) -> None:
        """Run another reporter instead, with these flags as well; returns when it is calm."""
        self.reporter.stop()
        self.reporter = self._start(*flags)
        time.sleep(CALM_SECONDS)

    def _start(self, *flags: str) -> ReporterProcess:
        reporter = ReporterProcess(
            self.plane,
            "--startup-grace-seconds=0",
            "--settle-seconds=1",
            f"--scrape-interval-seconds={INTERVAL}",
            f"--weight-download-metric-port={self.page_port}",
            "--scrape-mode=direct",
            *flags,
            env={"PYTHONPATH": str(ROOT)},
            program=(sys.executable, "-m", "e2e.support.loopback_reporter"),
        ).start(ready=False)
        assert reporter.process is not None
        resource.prlimit(reporter.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        reporter.until_ready(within=START_TIMEOUT)
        return reporter

    @property
    def _pid(self) -> int:
        assert self.reporter.process is not None
        return self.reporter.process.pid

    def take_requests(self) -> list[tuple[float, str]]:
        """Return time and address of each scrape with a response since the last call."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page_port}/scrapes") as answer:
            return [(at, address) for at, address in json.load(answer)]

    def during(self, seconds: float) -> tuple[list[tuple[float, str]], float]:
        """Return the scrapes of the next *seconds*, and the CPU seconds of the reporter."""
        self.take_requests()
        before = self.usage().cpu
        time.sleep(seconds)
        return self.take_requests(), self.usage().cpu - before

    def usage(self) -> ProcessUsage:
        return ProcessUsage.of(self._pid)

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self._pid}/fd").iterdir()))

    def clear(self) -> None:
        """Delete the loading pods and wait until none is scraped any more."""
        self.pods.remove_all()
        until(
            lambda: self._pods() == self._other_pods,
            within=START_TIMEOUT,
            what="the pods are deleted",
        )
        time.sleep(SETTLE_SECONDS)
        self.take_requests()

    def _pods(self) -> float:
        return self.reporter.metric("objects", kind="pods")

    def measure_announcements(self) -> list[float]:
        """
        Return the seconds until the Event can be read, of several changes; infinite on a timeout.
        """
        client, took = self.plane.client, []
        for inference_set in client.list(INFERENCE_SETS, limit=str(CHANGES)):
            meta = inference_set["metadata"]
            namespace, name = meta["namespace"], meta["name"]
            path = f"/apis/kaito.sh/v1beta1/namespaces/{namespace}/inferencesets/{name}"
            begun, subject = time.monotonic(), f"{namespace}/{name}:"
            client.patch(path, {"metadata": {"annotations": WRONG}})
            try:
                events.wait_for(client, INVALID_REASON, within=READ_TIMEOUT, containing=subject)
                took.append(time.monotonic() - begun)
            except WaitTimeout:
                took.append(math.inf)
            client.patch(path, {"metadata": {"annotations": RIGHT}})
        return took

    def wait_all_read(self, many: int, *, within: float) -> tuple[int, float]:
        """
        Wait up to *within* seconds until *many* pods were scraped.

        Return how many were, and the seconds until the last of them.
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
