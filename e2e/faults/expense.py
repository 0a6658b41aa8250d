"""
What a fault costs the reporter's process, as the kernel and its log tell it.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e.reporter_process import ReporterProcess


MIB = 1024


@dataclass
class Expense:
    """
    *cpu* in seconds; *peak*: how many MiB the process was larger, at its largest, than before;
    *lines* that were written to the log. All are set when the block ends.
    """

    cpu: float = 0
    peak: float = 0
    lines: int = 0

    def within(self, *, cpu: float, peak: float, lines: int) -> bool:
        return self.cpu < cpu and self.peak < peak and self.lines <= lines

    def __str__(self) -> str:
        return f"{self.cpu:.2f} s of CPU, {self.peak:+.1f} MiB, {self.lines} lines"


@contextlib.contextmanager
def expense(reporter: ReporterProcess, what: str) -> Iterator[Expense]:
    """
    Of the process that runs at the begin, which must not be another one at the end.
    """
    assert reporter.process is not None
    pid, spent = reporter.process.pid, Expense()
    cpu, lines = _cpu(pid), len(reporter.lines())
    before = _resident(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    yield spent
    assert reporter.running, f"{what}: the process has ended"
    spent.cpu = _cpu(pid) - cpu
    spent.peak = _resident(pid, "VmHWM") - before
    spent.lines = len(reporter.lines()) - lines
    print(f"{what}: {spent}, of {before:.0f} MiB before")


def _cpu(pid: int) -> float:
    """
    The name of the program, which may have spaces, ends with the last bracket.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / MIB
    raise LookupError(f"no {name} of process {pid}")
