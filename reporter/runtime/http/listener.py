"""
Accept the connections of one address, only so many at once.

One that is one too many takes the place of another: a connection of the client that has most, and
of these the oldest that waits. So no number of idle or slow clients keeps a probe from its answer.
"""

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from typing import Any

from reporter.model.enums import ClosedConnection
from reporter.runtime.http.connection import Connection, Respond
from reporter.runtime.http.limits import (
    ACCEPT_PAUSE,
    ACCEPTS_BETWEEN_YIELDS,
    BACKLOG,
    MAX_CONNECTIONS,
    STOP_TIMEOUT,
    ConnectionTimeouts,
)
from reporter.settings import BindAddress


NO_SUCH_FAMILY = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
"""
The errors of a machine without IPv6, or with it switched off.
"""

logger = logging.getLogger(__name__)

OnClosed = Callable[[ClosedConnection, str], None]
"""
Called with the reason for which a connection was closed early, and the client.
"""


class Listener:
    """
    One listening address. *on_closed* is called for each connection that the server ends early.
    """

    def __init__(
        self,
        address: BindAddress,
        respond: Respond,
        *,
        on_closed: OnClosed = lambda *_: None,
        timeouts: ConnectionTimeouts | None = None,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self._address, self._respond, self._on_closed = address, respond, on_closed
        self._timeouts = timeouts or ConnectionTimeouts()
        self._max_connections, self._turns = max_connections, asyncio.Lock()
        self._serving: dict[Connection, asyncio.Task[None]] = {}
        self._accepting: list[asyncio.Task[None]] = []
        self._sockets = ExitStack()

    async def start(self) -> None:
        """
        Raises OSError for an address that is not free.
        """
        with ExitStack() as opened:
            sockets = [opened.enter_context(each) for each in await _bind(self._address)]
            for each in sockets:
                each.listen(BACKLOG)
            self._sockets = opened.pop_all()
        self._accepting = [
            asyncio.create_task(self._accept_all(each), name=f"listener {self._address}")
            for each in sockets
        ]

    async def stop(self) -> None:
        """
        Accept no more, and let responses that have begun end, for a short time.
        """
        await _cancel(self._accepting)
        self._sockets.close()
        answering = [each for each in self._serving if not each.is_waiting]
        for each in answering:
            each.finish()
        if answering:
            tasks = [self._serving[each] for each in answering]
            await asyncio.wait(tasks, timeout=STOP_TIMEOUT.total_seconds())
        await _cancel(list(self._serving.values()))

    async def _accept_all(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for number in count(1):
            if number % ACCEPTS_BETWEEN_YIELDS == 0:
                await asyncio.sleep(0)
            try:
                sock, client = await loop.sock_accept(listening)
            except ConnectionError:
                continue
            except OSError as err:
                logger.debug("cannot accept a connection at %s: %s", self._address, err)
                self._close_one(ClosedConnection.NO_FILES)
                await asyncio.sleep(ACCEPT_PAUSE.total_seconds())
                continue
            if len(self._serving) >= self._max_connections:
                self._close_one(ClosedConnection.CROWDED_OUT)
            self._serve(sock, str(client[0]))

    def _serve(self, sock: socket.socket, client: str) -> None:
        sock.setblocking(False)
        with suppress(OSError):  # the client has reset it already
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(sock, client, self._respond, self._timeouts, self._turns)
        task = asyncio.create_task(self._run(connection), name=f"connection of {client}")
        self._serving[connection] = task
        task.add_done_callback(partial(self._forget, connection))

    async def _run(self, connection: Connection) -> None:
        ended = await connection.serve()
        if ended is not None:
            self._on_closed(ended, connection.client)

    def _forget(self, connection: Connection, _: asyncio.Task[None]) -> None:
        self._serving.pop(connection, None)
        connection.close()

    def _close_one(self, why: ClosedConnection) -> None:
        connection = choose_to_close(self._serving)
        if connection is not None:
            self._serving.pop(connection).cancel()
        self._on_closed(why, connection.client if connection is not None else "")


def choose_to_close(connections: Collection[Connection]) -> Connection | None:
    """
    Return the connection to close for a new one; *connections* are in the order of their age.
    """
    by_client = Counter(each.client for each in connections)
    return min(
        connections,
        key=lambda each: (-by_client[each.client], not each.is_waiting),
        default=None,
    )


async def _bind(address: BindAddress) -> list[socket.socket]:
    """
    Bind a socket for each address of the host; of every interface without one, IPv4 and IPv6.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(
        address.host or None, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    with ExitStack() as opened:
        sockets, failure = [], OSError(f"{address}: no such address")
        for family, _, _, _, where in dict.fromkeys(found):
            try:
                sockets.append(opened.enter_context(_bind_one(family, where)))
            except OSError as err:
                failure = OSError(err.errno, f"{address}: {err.strerror}")
                if err.errno not in NO_SUCH_FAMILY:
                    raise failure from err
        if not sockets:
            raise failure
        opened.pop_all()
    return sockets


def _bind_one(family: int, where: tuple[Any, ...]) -> socket.socket:
    with ExitStack() as opened:
        each = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
        each.setblocking(False)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        each.bind(where)
        opened.pop_all()
    return each


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
