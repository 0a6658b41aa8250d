"""The resource usage of a process, as counted by the kernel."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self


TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessUsage:
    """
    *cpu*: seconds since its start, in user and in kernel mode. *memory*: resident, in MiB; *peak*:
    its maximum so far.
    """

    cpu: float
    memory: float
    peak: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """
        proc(5): utime and stime are the 14th and 15th field, counted behind the name's bracket.
        """
        folder = Path(f"/proc/{pid}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        status = (folder / "status").read_text()
        cpu = (int(fields[11]) + int(fields[12])) / TICKS
        return cls(cpu, _mebibytes(status, "VmRSS"), _mebibytes(status, "VmHWM"))


def _mebibytes(status: str, name: str) -> float:
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024
