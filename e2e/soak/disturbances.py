"""
What goes wrong around the reporter: its replicas end, one is paused, the API server restarts.
"""

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


EVERY = (15.0, 40.0)
"""
The shortest and longest seconds from one trouble to the next.
"""

WEIGHTS = (2, 2, 3, 1)
PAUSED, SAMPLED = 10.0, 5.0
FLAGS = (*SHORT_FLAGS, "--emission=all", "--resync-seconds=10")


@dataclass
class Disturbances:
    """
    *steady* is paused and never ended: its memory is what is measured. *other* never lives long.
    *moments*: when any of it began or ended, in seconds since the epoch.
    """

    plane: ControlPlane
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)
    disturbed_at: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    cpu: float = 0

    def __enter__(self) -> Self:
        self.steady = ReporterProcess(self.plane, *FLAGS, name="steady").start()
        self.other = ReporterProcess(self.plane, *FLAGS, name="other").start(leading=False)
        self._at = time.monotonic() + EVERY[0]
        self._sample_at = 0.0
        self._wakes_at = float("inf")
        return self

    def __exit__(self, *_: object) -> None:
        """
        They end with the control plane at the latest.
        """
        self._wake()

    def step(self) -> None:
        now = time.monotonic()
        if now >= self._sample_at:
            self._sample_at = now + SAMPLED
            self._sample()
        if now >= self._wakes_at:
            self._wake()
        if now >= self._at:
            self._at = now + self.rng.uniform(*EVERY)
            troubles = {
                "replica killed": self._kill,
                "replica stopped": self._stop,
                "replica paused": self._pause,
                "API server restarted": self._restart,
            }
            name = self.rng.choices(list(troubles), weights=WEIGHTS)[0]
            self.disturbed_at.append(time.time())
            troubles[name]()
            self.disturbed_at.append(time.time())
            self.done[name] += 1

    def end(self) -> None:
        """
        No more of it.
        """
        self._wake()
        self._sample()

    def save_logs(self) -> Path:
        """
        A folder with the logs of both replicas, which outlives the control plane.
        """
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        for each in (self.steady, self.other):
            (folder / f"{each.name}.log").write_text(each.log())
        return folder

    def _kill(self) -> None:
        self.other.kill()
        self.other.start(ready=False)

    def _stop(self) -> None:
        self.other.stop()
        self.other.start(ready=False)

    def _pause(self) -> None:
        os.kill(self.steady.process.pid, signal.SIGSTOP)
        self._wakes_at = time.monotonic() + PAUSED

    def _wake(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.steady.process.pid, signal.SIGCONT)
        self._wakes_at = float("inf")

    def _restart(self) -> None:
        with self.plane.paused("kwok"):
            self.plane.stop_api_server(kill=self.rng.random() < 0.5)
            self.plane.start_api_server()

    def _sample(self) -> None:
        """
        Raises OSError when the process is gone, which it must not be.
        """
        usage = ProcessUsage.of(self.steady.process.pid)
        self.memory.append(usage.memory)
        self.cpu = usage.cpu
