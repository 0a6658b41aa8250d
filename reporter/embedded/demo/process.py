"""
The reporter as a process of its own, which does not outlive us.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path


STOP_TIMEOUT = 5.0
"""
Seconds that it has to give back its Lease and end.
"""

LOG_TAIL_LINES = 15
"""
Lines of its log that tell why it ended.
"""

WATCHDOG_SCRIPT = 'read -r _; kill "$1"'
"""
Its input ends with us, however we end; then it ends the reporter. Works on every Unix.
"""

REPORTER_ENV_PREFIXES = ("STATUS_REPORTER_", "POD_")
"""
Variables that would change what the reporter does.
"""


class ReporterExited(Exception):
    """
    The reporter ended although nobody told it to.
    """


@asynccontextmanager
async def run_reporter(
    arguments: Sequence[str], environ: Mapping[str, str], log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """
    The reporter with these arguments; what it writes goes to *log*.
    """
    clean = {
        name: value
        for name, value in environ.items()
        if not name.startswith(REPORTER_ENV_PREFIXES)
    }
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "reporter.cli", "run", *arguments,
            env=clean, stdin=asyncio.subprocess.DEVNULL, stdout=written, stderr=written,
            start_new_session=True,
        )  # fmt: skip
    try:
        async with _watchdog(process.pid):
            try:
                yield process
            finally:
                await _stop(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def raise_on_exit(process: asyncio.subprocess.Process, log: Path) -> None:
    """
    Raises ReporterEnded, once it has, with the end of its log.
    """
    code = await process.wait()
    raise ReporterExited(f"the reporter ended with exit code {code}; its log ends:\n{_tail(log)}")


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
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
async def _watchdog(pid: int) -> AsyncIterator[None]:
    guardian = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", WATCHDOG_SCRIPT, "guardian", str(pid),
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
        async with asyncio.timeout(STOP_TIMEOUT):
            await process.wait()
