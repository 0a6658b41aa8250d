"""The cost of a fault to the reporter's process, measured by the kernel and the log."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e.support.process_usage import ProcessUsage
from e2e.support.reporter_process import ReporterProcess


LIMITED = True
"""
CPU and memory have limits. They have none where only some of the faults are made, beside all other
tests.
"""


@dataclass
class FaultCost:
    """
    The cost of a block, set at its end.
    *cpu*: seconds. *peak*: growth of the largest memory, in MiB. *lines*: lines written to the
    log.
    """

    cpu: float = 0
    peak: float = 0
    lines: int = 0

    def assert_within(self, *, cpu: float, peak: float, lines: int) -> None:
        assert self.lines <= lines
        if LIMITED:
            assert self.cpu < cpu
            assert self.peak < peak

    def __str__(self) -> str:
        return f"{self.cpu:.2f} s of CPU, {self.peak:+.1f} MiB, {self.lines} lines"


@contextlib.contextmanager
def measured_cost(reporter: ReporterProcess, what: str) -> Iterator[FaultCost]:
    """Measure the process that runs at the begin. Another process at the end is a failure."""
    assert reporter.process is not None
    pid, spent = reporter.process.pid, FaultCost()
    before, lines = ProcessUsage.of(pid), len(reporter.lines())
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    yield spent
    assert reporter.running, f"{what}: the process has ended"
    after = ProcessUsage.of(pid)
    spent.cpu, spent.peak = after.cpu - before.cpu, after.peak - before.memory
    spent.lines = len(reporter.lines()) - lines
    print(f"{what}: {spent}, of {before.memory:.0f} MiB before")
