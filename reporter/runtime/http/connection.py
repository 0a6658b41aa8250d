"""
One connection of a client: requests one after the other, each with limits of time.

No request is waited for, and no response sent, without a timeout. Each step lets other tasks run,
because a socket that is always ready would never do so by itself.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from http import HTTPStatus

from reporter.model.enums import ClosedConnection
from reporter.runtime.http.limits import LINGER, LINGER_BYTES, ConnectionTimeouts
from reporter.runtime.http.requests import Refusal, Request, take_head
from reporter.runtime.http.responses import (
    LAST_CHUNK,
    Response,
    encode_chunk,
    encode_head,
    encode_refusal,
)


READ_BYTES = 8 * 1024
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""
SO_LINGER with no time: closing resets the connection, so an incomplete response cannot look whole.
"""

Respond = Callable[[Request], Response]
"""
Returns the response to a request, and never raises. The parts of a body may raise.
"""

logger = logging.getLogger(__name__)


class Connection:
    """
    A connection that was accepted.

    *client*: its address, without the port. *is_waiting*: no request is being answered.
    *turns*: held by the one connection of many that renders a part of a page.
    """

    def __init__(
        self,
        sock: socket.socket,
        client: str,
        respond: Respond,
        timeouts: ConnectionTimeouts,
        turns: asyncio.Lock,
    ) -> None:
        self.client, self.is_waiting, self._turns = client, True, turns
        self._sock, self._respond, self._timeouts = sock, respond, timeouts
        self._received, self._is_last = bytearray(), False
        self._loop = asyncio.get_running_loop()

    def finish(self) -> None:
        """
        Close the connection after the response that is being sent.
        """
        self._is_last = True

    def close(self) -> None:
        """
        Close the socket, also of a connection that was cancelled before it was served.
        """
        self._sock.close()

    async def serve(self) -> ClosedConnection | None:
        """
        Answer requests until the connection ends, and return why the server ended it early.
        """
        with self._sock, suppress(OSError):
            try:
                return await self._serve_requests()
            except asyncio.CancelledError:
                if not self.is_waiting:
                    self._reset()
                raise
        return None

    async def _serve_requests(self) -> ClosedConnection | None:
        wait = self._timeouts.request
        while True:
            self.is_waiting = True
            try:
                async with asyncio.timeout(wait.total_seconds()) as deadline:
                    request = await self._read_request(deadline)
            except TimeoutError:
                return await self._end_late()
            self.is_waiting = False
            if request is None:
                return None
            if isinstance(request, Refusal):
                await self._refuse(HTTPStatus(request))
                return ClosedConnection.MALFORMED
            try:
                async with asyncio.timeout(self._timeouts.response.total_seconds()):
                    another = await self._answer(request)
            except TimeoutError:
                self._reset()
                return ClosedConnection.SLOW_READER
            if not another or self._is_last:
                await self._linger()
                return None
            wait = self._timeouts.idle

    async def _read_request(self, deadline: asyncio.Timeout) -> Request | Refusal | None:
        """
        Read the next head; None at the end of the connection.

        *deadline* comes nearer with the first byte.
        """
        begun = False
        while True:
            if self._received and not begun:
                begun = True
                latest = self._loop.time() + self._timeouts.request.total_seconds()
                deadline.reschedule(min(latest, deadline.when() or latest))
            if self._received and (head := take_head(self._received)) is not None:
                del self._received[: head.length]
                return head.request
            data = await self._receive()
            if not data:
                return None
            self._received += data

    async def _answer(self, request: Request) -> bool:
        """
        Send the response, and return whether the connection can carry another one.
        """
        response, chunked = self._respond(request), request.takes_chunks
        body = response.body
        keep_alive = request.keeps_alive and (isinstance(body, bytes) or chunked)
        head = encode_head(response, keep_alive=keep_alive, chunked=chunked)
        if isinstance(body, bytes):
            await self._send(head if request.method == "HEAD" else head + body)
            return keep_alive
        with closing(body):
            await self._send(head)
            if request.method != "HEAD":
                await self._send_parts(body, chunked=chunked)
        return keep_alive

    async def _send_parts(self, parts: Generator[bytes, None, None], *, chunked: bool) -> None:
        """
        Send each part as soon as it is made.
        """
        try:
            while True:
                async with self._turns:
                    part = next(parts, None)
                    await asyncio.sleep(0)
                if part is None:
                    break
                await self._send(encode_chunk(part) if chunked else part)
        except (OSError, asyncio.CancelledError):
            raise
        except Exception as err:
            logger.exception("a page could not be rendered to its end")
            self._reset()
            raise ConnectionAbortedError from err
        await self._send(LAST_CHUNK if chunked else b"")

    async def _receive(self) -> bytes:
        data = await self._loop.sock_recv(self._sock, READ_BYTES)
        await asyncio.sleep(0)
        return data

    async def _send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._sock, data)
        await asyncio.sleep(0)

    async def _end_late(self) -> ClosedConnection:
        """
        End a connection that sent no whole head in time; an idle one needs no response.
        """
        if not self._received:
            return ClosedConnection.IDLE
        await self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        return ClosedConnection.SLOW_REQUEST

    async def _refuse(self, status: HTTPStatus) -> None:
        with suppress(OSError):
            async with asyncio.timeout(LINGER.total_seconds()):
                await self._send(encode_refusal(status))
        await self._linger()

    async def _linger(self) -> None:
        """
        Let the client read the response before the socket is closed with data unread.
        """
        discarded = 0
        with suppress(OSError):  # a timeout is one too
            self._sock.shutdown(socket.SHUT_WR)
            async with asyncio.timeout(LINGER.total_seconds()):
                while discarded < LINGER_BYTES and (data := await self._receive()):
                    discarded += len(data)

    def _reset(self) -> None:
        with suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
