"""
The program loaded once for many processes: each is a fork that goes on as a new Python with ``-m`` would.

To load it anew takes half of the processor time of a start. Run as a program, this module is the process
that is forked. Tests of the start itself, and benchmarks, start a new Python.
"""

import contextlib
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO


MODULES = frozenset({"reporter.cli", "e2e.support.loopback_reporter"})
"""Those that a fork may run: they change nothing before the program is loaded."""

ROOT = Path(__file__).parents[2]
LARGEST = 1 << 17
"""Bytes of a request: all variables of a process."""


class Fork:
    """A process as subprocess.Popen has it, as far as tests need it."""

    def __init__(self, loaded: "LoadedProgram", pid: int) -> None:
        self.pid, self._loaded = pid, loaded
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._loaded.exit_code(self.pid)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.01)
        return code


class LoadedProgram:
    """The process that is forked, started for the first fork. It ends with this one."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._connection: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, command: list[str], output: IO[bytes], env: Mapping[str, str] | None) -> Fork:
        """Start the command as a fork, in a session of its own."""
        request = {"words": command[2:], "env": dict(os.environ if env is None else env)}
        return Fork(self, self._ask(request, output.fileno()))

    def exit_code(self, pid: int) -> int | None:
        """Return how a fork has ended, None if it has not. It can be asked once after the end."""
        code = self._ask({"pid": pid})
        return None if code is None else int(code)

    @property
    def pid(self) -> int:
        """The process that is forked, 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    def end(self) -> None:
        if self._connection is not None and self._process is not None:
            self._connection.close()
            self._process.wait()
            self._connection = self._process = None

    def _ask(self, request: object, *files: int) -> int:
        with self._one_at_a_time:
            connection = self._connected()
            socket.send_fds(connection, [json.dumps(request).encode()], files)
            answer: int = json.loads(connection.recv(LARGEST))
            return answer

    def _connected(self) -> socket.socket:
        if self._connection is None:
            self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-u", "-m", __name__, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    cwd=ROOT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        return self._connection


_IN_USE: list[LoadedProgram] = []


@contextlib.contextmanager
def in_use() -> Iterator[None]:
    """Let reporters be forks for a while."""
    loaded = LoadedProgram()
    _IN_USE.append(loaded)
    try:
        yield
    finally:
        _IN_USE.remove(loaded)
        loaded.end()


def loaded_for(command: list[str]) -> LoadedProgram | None:
    """Return what this command is to be a fork of, None if it is to be a new process."""
    python, module = command[:2], command[2:3]
    can_fork = python == [sys.executable, "-m"] and not MODULES.isdisjoint(module)
    return _IN_USE[-1] if _IN_USE and can_fork else None


# ---------------------------------------------------------------- the process that is forked


def _serve(connection: socket.socket) -> list[str]:
    """Answer requests until the other end is closed. Returns the words of a new process, in it."""
    while True:
        text, files, _, _ = socket.recv_fds(connection, LARGEST, 1)
        if not text:
            sys.exit()
        request = json.loads(text)
        if "pid" in request:
            pid, status = os.waitpid(request["pid"], os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if pid else None
            connection.send(json.dumps(code).encode())
        elif os.fork() == 0:
            _become_new(files[0], request["env"])
            connection.send(json.dumps(os.getpid()).encode())
            connection.close()
            words: list[str] = request["words"]
            return words
        else:
            os.close(files[0])


def _become_new(output: int, env: Mapping[str, str]) -> None:
    """Take over a log and variables, in a session of its own."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.environ.clear()
    os.environ.update(env)


if __name__ == "__main__":
    import reporter.app
    import reporter.cli.command_line
    import reporter.cli.configuration  # noqa: F401

    gc.collect()
    gc.freeze()
    sys.argv = _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
