"""
Close the sockets of an HTTP session before its event loop ends.

aiohttp's connector no longer knows a connection once a request is cancelled or its response is abandoned.
If it is a TLS connection, it then stays open until the peer confirms the end, at most 30 s, and closing
the session does not wait for it: see aio-libs/aiohttp#1925, and "Graceful Shutdown" in aiohttp's
documentation, which proposes to sleep.
"""

import asyncio
import socket
from contextlib import suppress
from weakref import WeakSet

import aiohttp


CLOSE_TIMEOUT_SECONDS = 5.0
"""
Far more than the few turns of the event loop in which a transport notices that its socket ended, also
on a machine that gives the process no turn for a second.
"""

POLL_SECONDS = 0.001


class OpenSockets:
    """Opens the sockets of a connector as its *socket_factory*, and ends those left over."""

    def __init__(self) -> None:
        self._opened: WeakSet[socket.socket] = WeakSet()

    def open(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """Open a socket for one result of getaddrinfo, and remember it until it is closed."""
        family, kind, protocol, _, _ = address
        opened = socket.socket(family, kind, protocol)
        self._opened.add(opened)
        return opened

    async def close(self) -> None:
        """
        End what is still open, after the session was closed, and wait until it is closed.

        Only the transport may close its socket; it does so when it sees the end of the stream.
        """
        for each in self._still_open():
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                while self._still_open():  # noqa: ASYNC110 — a socket has no event for it
                    await asyncio.sleep(POLL_SECONDS)

    def _still_open(self) -> list[socket.socket]:
        return [each for each in self._opened if each.fileno() >= 0]
