"""
What a process costs, as the kernel counts it.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self


TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """
    *cpu*: seconds since its start, in user and in kernel mode. *memory*: resident, in MiB.
    """

    cpu: float
    memory: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """
        proc(5): utime and stime are the 14th and 15th field, counted behind the name's bracket.
        """
        folder = Path(f"/proc/{pid}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        resident = int((folder / "statm").read_text().split()[1])
        cpu = (int(fields[11]) + int(fields[12])) / TICKS
        return cls(cpu, resident * os.sysconf("SC_PAGE_SIZE") / 2**20)
