"""Run a program and collect what it prints, within bounds of time and memory."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta


MAX_OUTPUT_BYTES = 2**20
"""Only the last bytes are kept of a longer output."""

LEFTOVER_SECONDS = 0.5
"""
Seconds for which output is awaited after the program has ended. A child that it leaves behind may
keep its streams open for ever.
"""


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    exit_code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


async def run_program(
    argv: Sequence[str], env: Mapping[str, str], *, limit: timedelta
) -> ProgramOutput:
    """
    Run a program without input and return what it printed until it ended.

    Raises OSError or ValueError if it cannot be run, and TimeoutError after *limit*.
    """
    async with _pipe() as (stdout, to_stdout), _pipe() as (stderr, to_stderr):
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=to_stdout,
                stderr=to_stderr,
                start_new_session=True,
            )
        finally:
            os.close(to_stdout)
            os.close(to_stderr)
        exit_code = await _wait_for_exit(process, limit)
        await asyncio.wait({stdout.task, stderr.task}, timeout=LEFTOVER_SECONDS)
        return ProgramOutput(exit_code, bytes(stdout.kept), bytes(stderr.kept))


async def _wait_for_exit(process: asyncio.subprocess.Process, limit: timedelta) -> int:
    """Wait for the program; kill it with all its children when the time is over."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


class _Collector:
    """Reads a stream to its end, and keeps its last bytes."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.kept = bytearray()
        self.task = asyncio.create_task(self._collect(reader), name="read output of a program")

    async def _collect(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(MAX_OUTPUT_BYTES):
            self.kept += chunk
            del self.kept[:-MAX_OUTPUT_BYTES]


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[_Collector, int]]:
    """
    Yield what arrives at one end of a pipe, and the other end, which the caller closes.

    asyncio's own pipes would make waiting for the program wait for its children's output as well.
    """
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", 0)
    )
    collector = _Collector(reader)
    try:
        yield collector, writing
    finally:
        collector.task.cancel()
        transport.close()
