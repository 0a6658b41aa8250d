"""The disturbances of the soak: replicas end or are paused, and the API server restarts."""

import contextlib
import os
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from e2e.controlplane import ControlPlane
from e2e.support.process_usage import ProcessUsage
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


INTERVAL_SECONDS = (15.0, 40.0)
"""The shortest and longest time between two disturbances."""

WEIGHTS = (2, 2, 3, 1)
PAUSE_SECONDS, SAMPLE_SECONDS = 10.0, 5.0
FLAGS = (*SHORT_FLAGS, "--emission=all", "--resync-seconds=10")


@dataclass
class Disturbances:
    """
    The disturbances so far: their counts, times, and the memory of one replica.

    The replica `steady` is paused but never ended, and its memory is measured. The replica `other`
    is killed and stopped. *disturbed_at* has the begin and end of each disturbance, in seconds
    since the epoch.
    """

    plane: ControlPlane
    rng: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    disturbed_at: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    cpu: float = 0

    def __enter__(self) -> Self:
        self.steady = ReporterProcess(self.plane, *FLAGS, name="steady").start()
        self.other = ReporterProcess(self.plane, *FLAGS, name="other").start(leading=False)
        self._next_at = time.monotonic() + INTERVAL_SECONDS[0]
        self._sample_at = 0.0
        self._resume_at = float("inf")
        return self

    def __exit__(self, *_: object) -> None:
        """Continue the paused replica. The control plane stops both when it ends."""
        self._resume()

    def step(self) -> None:
        now = time.monotonic()
        if now >= self._sample_at:
            self._sample_at = now + SAMPLE_SECONDS
            self._sample()
        if now >= self._resume_at:
            self._resume()
        if now >= self._next_at:
            self._next_at = now + self.rng.uniform(*INTERVAL_SECONDS)
            actions = {
                "replica killed": self._kill,
                "replica stopped": self._stop,
                "replica paused": self._pause,
                "API server restarted": self._restart,
            }
            name = self.rng.choices(list(actions), weights=WEIGHTS)[0]
            self.disturbed_at.append(time.time())
            actions[name]()
            self.disturbed_at.append(time.time())
            self.counts[name] += 1

    def end(self) -> None:
        """Continue the paused replica and take a last sample."""
        self._resume()
        self._sample()

    def save_logs(self) -> Path:
        """
        Write the logs of both replicas to a folder that outlives the control plane, and return it.
        """
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        for replica in (self.steady, self.other):
            (folder / f"{replica.name}.log").write_text(replica.log())
        return folder

    def _kill(self) -> None:
        self.other.kill()
        self.other.start(ready=False)

    def _stop(self) -> None:
        self.other.stop()
        self.other.start(ready=False)

    def _pause(self) -> None:
        os.kill(self.steady.process.pid, signal.SIGSTOP)
        self._resume_at = time.monotonic() + PAUSE_SECONDS

    def _resume(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.steady.process.pid, signal.SIGCONT)
        self._resume_at = float("inf")

    def _restart(self) -> None:
        with self.plane.paused("kwok"):
            self.plane.stop_api_server(kill=self.rng.random() < 0.5)
            self.plane.start_api_server()

    def _sample(self) -> None:
        """Record memory and CPU. Raise OSError if the process has ended, which it must not."""
        usage = ProcessUsage.of(self.steady.process.pid)
        self.memory.append(usage.memory)
        self.cpu = usage.cpu
