"""The reporter's process, which never outlives the demo."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path


STOP_TIMEOUT = 5.0
"""Seconds for the reporter to release its Lease and exit."""

LOG_TAIL_LINES = 15
"""Lines of the reporter's log to print when it exits unexpectedly."""

WATCHDOG_SCRIPT = 'read -r _; kill "$1"'
"""
Stops the reporter when its stdin closes, which happens however the demo ends, also after SIGKILL.
prctl(PR_SET_PDEATHSIG) would do the same on Linux only.
"""

REPORTER_ENV_PREFIXES = ("STATUS_REPORTER_", "POD_")
"""Prefixes of environment variables that configure the reporter."""


class ReporterExited(Exception):
    """The reporter exited although nobody stopped it."""


@asynccontextmanager
async def run_reporter(
    arguments: Sequence[str], environ: Mapping[str, str], log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the reporter with its output in *log*, and stop it at the end."""
    clean = {
        name: value
        for name, value in environ.items()
        if not name.startswith(REPORTER_ENV_PREFIXES)
    }
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "reporter.cli", "run", *arguments,
            env=clean, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output,
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
    """Wait until the reporter exits, then raise ReporterExited with the end of its log."""
    code = await process.wait()
    raise ReporterExited(f"the reporter ended with exit code {code}; its log ends:\n{_tail(log)}")


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join(f"  {line}" for line in lines)


def free_addresses(number: int) -> list[str]:
    """Return loopback addresses with ports that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


@asynccontextmanager
async def _watchdog(pid: int) -> AsyncIterator[None]:
    watchdog = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", WATCHDOG_SCRIPT, "watchdog", str(pid),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            watchdog.kill()
        await watchdog.wait()


async def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, TimeoutError):
        process.terminate()
        async with asyncio.timeout(STOP_TIMEOUT):
            await process.wait()
