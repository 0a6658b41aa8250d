"""
The reporter as a process of its own, which does not outlive us.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path


PATIENCE = 5.0
"""
Seconds that it has to give back its Lease and end.
"""

TAIL = 15
"""
Lines of its log that tell why it ended.
"""

GUARDIAN = 'read -r _; kill "$1"'
"""
Its input ends with us, however we end; then it ends the reporter. Works on every Unix.
"""

OURS = ("STATUS_REPORTER_", "POD_")
"""
Variables that would change what the reporter does.
"""


class ReporterEnded(Exception):
    """
    The reporter ended although nobody told it to.
    """


@asynccontextmanager
async def running(
    arguments: Sequence[str], environ: Mapping[str, str], log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """
    The reporter with these arguments; what it writes goes to *log*.
    """
    clean = {name: value for name, value in environ.items() if not name.startswith(OURS)}
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "reporter", "run", *arguments,
            env=clean, stdin=asyncio.subprocess.DEVNULL, stdout=written, stderr=written,
            start_new_session=True,
        )  # fmt: skip
    try:
        async with _guarded(process.pid):
            try:
                yield process
            finally:
                await _stop(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def ended(process: asyncio.subprocess.Process, log: Path) -> None:
    """
    Raises ReporterEnded, once it has, with the end of its log.
    """
    code = await process.wait()
    raise ReporterEnded(f"the reporter ended with exit code {code}; its log ends:\n{_tail(log)}")


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines()[-TAIL:]
    return "\n".join(f"  {line}" for line in lines)


def free_addresses(number: int) -> list[str]:
    """
    Addresses of this machine that nobody listens at just now.
    """
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


@asynccontextmanager
async def _guarded(pid: int) -> AsyncIterator[None]:
    guardian = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", GUARDIAN, "guardian", str(pid),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            guardian.kill()
        await guardian.wait()


async def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, TimeoutError):
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.wait()
