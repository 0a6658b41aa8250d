"""The demo as a process, with or without a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


COMMAND = [sys.executable, "-m", "devcluster"]
TIMEOUT = 90
"""Seconds. Longer than the demo itself waits for anything."""


@dataclass
class DemoProcess:
    """A running demo and its output so far."""

    process: subprocess.Popen
    out: int
    cache: Path
    output_lines: str = ""

    def until(self, pattern: str, within: float = TIMEOUT) -> str:
        """Read until the output matches *pattern*. Return its first group, or the match."""
        end = time.perf_counter() + within
        while (found := re.search(pattern, self.output_lines)) is None:
            left = end - time.perf_counter()
            assert left > 0, f"no {pattern!r} in:\n{self.output_lines}"
            if select.select([self.out], [], [], left)[0]:
                assert self._read(), f"it ended without {pattern!r}:\n{self.output_lines}"
        return found[1] if found.groups() else found[0]

    def remaining_output(self, within: float = TIMEOUT) -> int:
        """Read to the end of the output and return the exit code."""
        end = time.perf_counter() + within
        while select.select([self.out], [], [], max(end - time.perf_counter(), 0))[0]:
            if not self._read():
                return self.process.wait(TIMEOUT)
        raise AssertionError(f"it has not ended within {within} s:\n{self.output_lines}")

    def _read(self) -> bool:
        try:
            data = os.read(self.out, 65536)
        except OSError:  # Linux raises EIO when the other end of a pseudo-terminal is closed
            data = b""
        self.output_lines += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)

    @property
    def address(self) -> tuple[str, int]:
        """The metrics address of the reporter."""
        return ("127.0.0.1", int(self.until(r"http://127\.0\.0\.1:(\d+)/metrics")))

    @property
    def processes(self) -> list[str]:
        """The command lines of the demo and of all processes that it started."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environ = (folder / "environ").read_bytes()
                arguments = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.cache).encode() in environ:
                found.append(arguments.replace(b"\0", b" ").decode())
        return found


@contextmanager
def started_demo(folder: Path, *, columns: int = 0, **environ: str) -> Iterator[DemoProcess]:
    """Start a demo, on a terminal if it has columns, and kill it at the end if it still runs."""
    test_end, demo_end = pty.openpty() if columns else os.pipe()
    if columns:
        fcntl.ioctl(demo_end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environ = {"TERM": "xterm", "COLUMNS": "", **environ}
    demo = DemoProcess(launch_demo(folder, demo_end, **environ), test_end, folder)
    os.close(demo_end)
    try:
        yield demo
    finally:
        demo.process.kill()
        demo.process.wait()
        os.close(demo.out)


def launch_demo(cache: Path, out: int, **environ: str) -> subprocess.Popen:
    def restore_ctrl_c() -> None:
        """
        Reset SIGINT, which shells ignore in background jobs, and take the terminal as controlling one.
        """
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    return subprocess.Popen(
        COMMAND,
        stdin=out if os.isatty(out) else subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), **environ},
        start_new_session=True,
        preexec_fn=restore_ctrl_c,  # noqa: PLW1509
    )


def refuses_connection(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=10).close()
    except OSError:
        return True
    return False


def until(condition, within: float = TIMEOUT) -> None:
    end = time.perf_counter() + within
    while not condition():
        assert time.perf_counter() < end, f"not within {within} s"
        time.sleep(0.05)
