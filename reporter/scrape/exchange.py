"""
Read a page over a connection of its own: one request, one response.

It is a plain socket on the event loop, which costs half of what asyncio's transports do. No connection
is kept: vLLM closes an idle one after 5 s (VLLM_HTTP_TIMEOUT_KEEP_ALIVE in vllm/envs.py), which is
before the next scrape, and each would be an open file.
"""

import asyncio
import errno
import os
import socket
from selectors import EVENT_READ, EVENT_WRITE
from typing import NamedTuple

from reporter.scrape import limits
from reporter.scrape.response import PageResponse, no_page
from reporter.scrape.samples import ScrapeError, ScrapeResult
from reporter.scrape.socket_watch import SocketWatch


class FetchedPage:
    """
    The body of a page, which ``with`` gives.

    A large page holds one of a few slots until the block ends, so that few are in memory at once.
    """

    def __init__(self, body: bytes, held_slots: asyncio.Semaphore | None = None) -> None:
        self._body, self._held_slots = body, held_slots

    def __enter__(self) -> bytes:
        return self._body

    def __exit__(self, *_: object) -> None:
        if self._held_slots is not None:
            self._held_slots.release()


class Timeouts(NamedTuple):
    """Seconds to connect, of silence after that, and for the whole page."""

    connect: float
    silence: float
    whole: float


class PageExchange:
    """
    One request, and the response to it.

    *target*: an IP address and a port. *buffer*: where bytes are received; all exchanges share it and the
    *watch*.
    """

    def __init__(
        self,
        target: tuple[str, int],
        request: bytes,
        timeouts: Timeouts,
        watch: SocketWatch,
        buffer: memoryview,
    ) -> None:
        self._target, self._request = target, request
        self._timeouts, self._watch, self._buffer = timeouts, watch, buffer
        self._response = PageResponse()
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + timeouts.whole
        self._progress: asyncio.Future[None] = self._loop.create_future()
        self._failure: Exception | None = None
        self._is_connected = self._has_slot = False

    async def read(self, large_page_slots: asyncio.Semaphore) -> FetchedPage:
        """
        Return the page. More than SMALL_PAGE_BYTES are received only with one of the slots.

        Raises ScrapeError.
        """
        address, _ = self._target
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            # To look up a name would hold the event loop.
            socket.inet_pton(family, address)
            with socket.socket(family, socket.SOCK_STREAM) as self._socket:
                return await self._exchange(large_page_slots)
        except OSError as err:
            raise self._scrape_error(err) from err
        finally:
            self._response.close()

    async def _exchange(self, slots: asyncio.Semaphore) -> FetchedPage:
        self._socket.setblocking(False)
        self._file = self._socket.fileno()
        self._fails_at = self._loop.time() + min(self._timeouts.connect, self._timeouts.whole)
        self._timer = self._loop.call_at(self._fails_at, self._on_time)
        try:
            self._connect()
            await self._wait()
            if self._response.is_complete:
                return FetchedPage(self._response.body())
            return await self._read_large(slots)
        finally:
            self._timer.cancel()
            self._watch.forget(self._file)

    async def _read_large(self, slots: asyncio.Semaphore) -> FetchedPage:
        async with asyncio.timeout_at(self._deadline):  # it is not silent while it must wait
            await slots.acquire()
        try:
            self._has_slot, self._progress = True, self._loop.create_future()
            self._receive()
            await self._wait()
        except BaseException:
            slots.release()
            raise
        return FetchedPage(self._response.body(), slots)

    async def _wait(self) -> None:
        """Wait for the end, or for more than a small page. Raises what went wrong."""
        await self._progress
        if self._failure is not None:
            raise self._failure

    def _connect(self) -> None:
        error = self._socket.connect_ex(self._target)
        if error not in (0, errno.EINPROGRESS):
            raise OSError(error, os.strerror(error))
        self._watch.watch(self._file, EVENT_WRITE, self._on_connected)

    def _on_connected(self) -> None:
        if self._progress.done():  # cancelled a moment ago
            return
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self._end(OSError(error, os.strerror(error)))
            return
        self._is_connected = True
        try:
            # So few bytes have room in the buffer of a new connection.
            self._socket.sendall(self._request)
        except OSError as err:
            self._end(err)
        else:
            self._receive()

    def _receive(self) -> None:
        self._fails_at = self._deadline
        self._extend_silence()
        # Mostly all is there before the time to connect is over, and no other timer is needed.
        if self._fails_at < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(self._fails_at, self._on_time)
        self._watch.watch(self._file, EVENT_READ, self._on_readable)

    def _on_readable(self) -> None:
        response = self._response
        try:
            size = self._socket.recv_into(self._buffer)
            if size:
                response.feed(self._buffer[:size])
            else:
                response.feed_end()
        except BlockingIOError:
            return
        except (OSError, ScrapeError) as err:
            self._end(err)
            return
        if response.is_complete or (
            response.size > limits.SMALL_PAGE_BYTES and not self._has_slot
        ):
            self._end()
        else:
            self._extend_silence()

    def _extend_silence(self) -> None:
        if self._timeouts.silence < self._timeouts.whole:
            silent_until = self._loop.time() + self._timeouts.silence
            self._fails_at = min(silent_until, self._deadline)

    def _on_time(self) -> None:
        """Fail if it is time, or wait on: the pod may have sent something meanwhile."""
        if self._progress.done():
            return
        if self._loop.time() < self._fails_at:
            self._timer = self._loop.call_at(self._fails_at, self._on_time)
        else:
            self._end(TimeoutError())

    def _end(self, failure: Exception | None = None) -> None:
        """End the waiting, and receive nothing more."""
        self._watch.forget(self._file)
        if self._progress.done():  # cancelled a moment ago
            return
        # Not as the exception of the future, which asyncio logs if the task is cancelled meanwhile.
        self._failure = failure
        self._progress.set_result(None)

    def _scrape_error(self, err: OSError) -> ScrapeError:
        if self._is_connected:
            if isinstance(err, TimeoutError):
                return ScrapeError(ScrapeResult.TIMED_OUT, "it does not send its page in time")
            return no_page(err.strerror or type(err).__name__)
        if isinstance(err, TimeoutError):
            return ScrapeError(ScrapeResult.UNREACHABLE, "connecting to it timed out")
        if isinstance(err, ConnectionRefusedError):
            return ScrapeError(ScrapeResult.REFUSED, f"nothing listens at port {self._target[1]}")
        return ScrapeError(
            ScrapeResult.UNREACHABLE, f"it cannot be reached: {err.strerror or err}"
        )
