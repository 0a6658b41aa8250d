"""
Processes and folders that must not outlive the program that started them.

Run as a program, this module is a watchdog. Its standard input is a pipe whose other end only the
owner holds, so end of file means that the owner has ended, in whatever way. If the watchdog ends
too, the next start finds the leftovers by the owner's lock on its folder.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO


PREFIX = "productionstack-controlplane-"
REMOVED_WITHIN = 30
"""Seconds within which killed processes have ended."""

_LOCK = "owner.lock"
_PIDS = "pids"


def claim(folder: Path) -> IO[str]:
    """Lock the folder, which is in use for as long as the returned file is open."""
    unfinished = folder / f"{_LOCK}.new"
    file = unfinished.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    unfinished.rename(folder / _LOCK)
    return file


def record(folder: Path, pid: int) -> None:
    with (folder / _PIDS).open("a") as file:
        file.write(f"{pid} {_birth(pid)}\n")


def sweep(parent: Path) -> None:
    """Stop the processes and remove the folders of crashed owners. Folders in use are skipped."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            clear(folder)


def clear(folder: Path) -> None:
    for pid, birth in _recorded(folder):
        if birth and _birth(pid) == birth:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
    # A process that is being killed may still write a last file.
    end = time.monotonic() + REMOVED_WITHIN
    while folder.exists() and time.monotonic() < end:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.01)


def _recorded(folder: Path) -> list[tuple[int, str]]:
    try:
        lines = (folder / _PIDS).read_text().splitlines()
    except FileNotFoundError:
        return []
    parts = [line.split(" ", maxsplit=1) for line in lines]
    return [(int(pid), birth) for pid, birth in parts]


def _birth(pid: int) -> str:
    """
    Return the start time of a process, or "" if there is none. The pid alone may be in use by
    another process.
    """
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
        return after_name.split()[19]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return ""
    listed = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listed.stdout.strip()


def _watch(folder: Path) -> None:
    sys.stdin.read()
    clear(folder)


if __name__ == "__main__":
    _watch(Path(sys.argv[1]))
