"""The processes of one control plane: started in one folder, ended together, whatever happens."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol

from e2e.controlplane import leftovers


class Started(Protocol):
    """A started process, as subprocess.Popen has it."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


Start = Callable[[list[str], IO[bytes], Mapping[str, str] | None], Started]


class Process:
    """
    A process in a session of its own, so that Ctrl-C reaches the tests and not their servers.
    """

    def __init__(self, name: str, started: Started, log: Path) -> None:
        self.name = name
        self.pid = started.pid
        self.log = log
        self._started = started

    def exit_code(self) -> int | None:
        return self._started.poll()

    def running(self) -> bool:
        return self.exit_code() is None

    def stop(self, *, grace: float = 15) -> int:
        """Send SIGTERM, wait for at most *grace* seconds, then kill. Returns the exit code."""
        self.signal(signal.SIGTERM)
        try:
            return self._started.wait(grace)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        self.signal(signal.SIGKILL)
        return self._started.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole process group, so also to its child processes."""
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def tail(self, lines: int = 25) -> str:
        last = self.log.read_text(errors="replace").splitlines()[-lines:]
        return "\n".join([f"--- the end of {self.log.name}", *last])


def start_anew(
    command: list[str], output: IO[bytes], env: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=env,
        start_new_session=True,
    )


class Folder:
    """A temporary folder and all processes that work in it."""

    def __init__(self) -> None:
        leftovers.sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=leftovers.PREFIX))
        self._lock = leftovers.claim(self.path)
        self._processes: list[Process] = []
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", leftovers.__file__, str(self.path)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def start(
        self,
        name: str,
        command: list[str],
        env: dict[str, str] | None = None,
        start: Start = start_anew,
    ) -> Process:
        log = self.path / f"{name}.log"
        with log.open("ab") as output:
            started = start(command, output, env)
        leftovers.record(self.path, started.pid)
        process = Process(name, started, log)
        self._processes.append(process)
        return process

    def running(self) -> list[Process]:
        return [each for each in self._processes if each.running()]

    def end(self) -> None:
        """
        Kill all processes and remove the folder: the data of an ended control plane has no use.
        """
        for process in reversed(self._processes):
            process.kill()
        shutil.rmtree(self.path, ignore_errors=True)
        self._watchdog.communicate()
        self._lock.close()
