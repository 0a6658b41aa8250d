"""
One connection of a client, with limits of time for each of its steps.

aiohttp limits neither the time in which the head of a request arrives nor that in which a response
is read.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Protocol

from aiohttp import hdrs
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server

from reporter import PROGRAM_NAME
from reporter.model.enums import ClosedConnection
from reporter.server.limits import MAX_CONNECTIONS, ConnectionTimeouts


LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nServer: %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    % PROGRAM_NAME.encode()
)

_SILENT = logging.getLogger(f"{__name__}.aiohttp")
_SILENT.disabled = True


class ConnectionObserver(Protocol):
    """The receiver of what happens to the connections of one listening address."""

    def opened(self, connection: "Connection") -> None:
        """Note a new connection; another one may be closed to make room for it."""
        ...

    def lost(self, connection: "Connection") -> None:
        """Note that a connection has ended, whoever ended it."""
        ...

    def closed_early(self, connection: "Connection", why: ClosedConnection) -> None:
        """Note that the server, and not the client, ends a connection, and *why*."""
        ...


class Connection(RequestHandler):
    """
    The protocol of one connection of aiohttp, with a deadline for the step that it is in.

    *server*: that of aiohttp, which has the handler of requests. *client*: the IP address of the peer;
    empty if it is not known.
    """

    __slots__ = ("_deadline", "_has_request", "_observer", "_responding", "_timeouts", "client")

    def __init__(
        self, server: Server, observer: ConnectionObserver, timeouts: ConnectionTimeouts
    ) -> None:
        # The log of aiohttp has a traceback for each request that is not HTTP.
        super().__init__(server, loop=asyncio.get_running_loop(), logger=_SILENT)
        self._observer, self._timeouts = observer, timeouts
        self._has_request, self._responding, self.client = False, False, ""
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Return whether no response is being made or sent, so that closing it loses nothing."""
        return not self._responding and not self._unsent_bytes()

    @contextmanager
    def responding(self) -> Iterator[None]:
        """Limit the time of a response. Its last bytes may still be sent afterwards."""
        self._responding = True
        self._set_deadline(self._timeouts.response, ClosedConnection.SLOW_READER)
        try:
            yield
        finally:
            self._responding = self._has_request = False
            self._set_deadline(self._timeouts.idle, ClosedConnection.IDLE)

    def abort(self, why: ClosedConnection | None = None) -> None:
        """
        Reset the connection, so that an incomplete response cannot look whole.

        *why*: told to the observer, which counts it; None tells nothing.
        """
        if self.transport is not None and why is not None:
            self._observer.closed_early(self, why)
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()

    # ------------------------------------------------------------ called by asyncio and aiohttp

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the deadline for the first request, and tell the observer of the connection."""
        peer = transport.get_extra_info("peername")
        self.client = str(peer[0]) if peer else ""
        super().connection_made(transport)
        self._set_deadline(self._timeouts.request, ClosedConnection.IDLE)
        self._observer.opened(self)

    def data_received(self, data: bytes) -> None:
        """Start the deadline for the head of a request at its first byte, then let aiohttp parse it."""
        if self.is_waiting and not self._has_request:
            self._has_request = True
            self._set_deadline(self._timeouts.request, ClosedConnection.SLOW_REQUEST)
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Cancel the deadline, and tell the observer that the connection has ended."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._observer.lost(self)
        super().connection_lost(exc)

    def handle_error(
        self,
        request: BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> StreamResponse:
        """
        Answer what is not an HTTP/1 request. Of our handlers, only lost connections arrive here.
        """
        if isinstance(exc, ConnectionError):
            raise ConnectionAbortedError  # exc itself would keep this frame, and the page, alive
        self._observer.closed_early(self, ClosedConnection.MALFORMED)
        response = Response(
            status=status,
            text=f"{HTTPStatus(status).phrase}\n",
            headers={hdrs.SERVER: PROGRAM_NAME},
        )
        response.force_close()
        return response

    # ------------------------------------------------------------ limits

    def _set_deadline(self, after: timedelta, why: ClosedConnection) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        if self.transport is None:
            return  # a handler may end after the connection, which a timer would keep in memory
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(after.total_seconds(), self._end_late, why)

    def _end_late(self, why: ClosedConnection) -> None:
        if self._unsent_bytes():
            self.abort(ClosedConnection.SLOW_READER)
            return
        if why is ClosedConnection.SLOW_REQUEST and isinstance(self.transport, asyncio.Transport):
            self._observer.closed_early(self, why)
            self.transport.write(LATE)
            self.force_close()
            return
        self.abort(why)

    def _unsent_bytes(self) -> int:
        transport = self.transport
        return transport.get_write_buffer_size() if isinstance(transport, asyncio.Transport) else 0


# --------------------------------------------------------------------
# Limit the connections of one listening address.
#
# One that is one too many takes the place of another: a connection of the client that has most, and
# of these the oldest that waits. So no number of idle or slow clients keeps a probe from its answer.


OnClosed = Callable[[ClosedConnection, str], None]
"""Called with the reason for which a connection was closed early, and the client."""


class ConnectionLimit:
    """The open connections, in the order of their age."""

    def __init__(self, on_closed: OnClosed) -> None:
        self._on_closed = on_closed
        self._open: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """
        Add a connection. Beyond MAX_CONNECTIONS another one is reset for it.

        The one to go is the choice of *choose_to_close*, and counts as CROWDED_OUT.
        """
        if len(self._open) >= MAX_CONNECTIONS:
            crowded_out = choose_to_close(self._open)
            self.lost(crowded_out)
            crowded_out.abort(ClosedConnection.CROWDED_OUT)
        self._open[connection] = None

    def lost(self, connection: Connection) -> None:
        """Remove a connection; one that was crowded out before is no longer there."""
        self._open.pop(connection, None)

    def closed_early(self, connection: Connection, why: ClosedConnection) -> None:
        """Call *on_closed* with the reason and the IP address of the client."""
        self._on_closed(why, connection.client)


def choose_to_close(connections: Iterable[Connection]) -> Connection:
    """
    Return the connection to close for a new one: the oldest that waits, of the client that has most.

    *connections*: by age, the oldest first. If none of that client waits, its oldest one.
    """
    by_client = Counter(each.client for each in connections)
    return min(connections, key=lambda each: (-by_client[each.client], not each.is_waiting))


# --------------------------------------------------------------------
# Count the connections that the server closes early, and log some of them.


LOG_INTERVAL = timedelta(minutes=1)
"""At most one line per reason and interval: clients that misbehave must not fill the log."""

LEVELS = {ClosedConnection.CROWDED_OUT: logging.WARNING}
TEXTS = {
    ClosedConnection.MALFORMED: "it sent no HTTP/1 request",
    ClosedConnection.SLOW_REQUEST: "its request did not arrive in time",
    ClosedConnection.SLOW_READER: "it did not read the response in time",
    ClosedConnection.IDLE: "it sent no request in time",
    ClosedConnection.CROWDED_OUT: "there were too many connections, and it had most of them",
}

logger = logging.getLogger(__name__)


class ClosedConnectionLog:
    """
    Logs and counts the connections that the server closes early.

    *count*: called each time. *now*: returns monotonic seconds.
    """

    def __init__(
        self, count: Callable[[ClosedConnection], None], now: Callable[[], float]
    ) -> None:
        self._count, self._now = count, now
        self._logged_at: dict[ClosedConnection, float] = {}
        self._unlogged = dict.fromkeys(ClosedConnection, 0)

    def record(self, why: ClosedConnection, client: str) -> None:
        """
        Count a connection that was closed early, and log it, at most once a minute for each reason.

        *client*: its IP address; empty if it is not known. Only CROWDED_OUT is a warning; the others are
        logged at the level DEBUG.
        """
        self._count(why)
        self._unlogged[why] += 1
        now, last = self._now(), self._logged_at.get(why)
        if last is not None and now - last < LOG_INTERVAL.total_seconds():
            return
        self._logged_at[why] = now
        logger.log(
            LEVELS.get(why, logging.DEBUG),
            "closed a connection of %s: %s (%d since the last such line)",
            client or "no client",
            TEXTS[why],
            self._unlogged[why],
        )
        self._unlogged[why] = 0
