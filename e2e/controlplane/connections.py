"""Connections that are used again: a TLS handshake costs more than most requests of a test."""

import contextlib
import http.client
import select
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TypeAlias


REUSED_WITHIN = 60.0
"""
Seconds. kube-apiserver closes a connection that is idle for 90 (apiserver, secure_serving.go), and a
request that is sent at that moment fails.
"""

Idle: TypeAlias = list[tuple[float, http.client.HTTPConnection]]
"""Connections, each with the time of its last answer."""


class Connections:
    """The idle connections to one server, for any number of threads."""

    def __init__(
        self,
        connect: Callable[[], http.client.HTTPConnection],
        *,
        reused_within: float = REUSED_WITHIN,
    ) -> None:
        self._connect, self._reused_within = connect, reused_within
        self._idle: Idle = []
        weakref.finalize(self, _close_all, self._idle)

    @contextlib.contextmanager
    def one(self) -> Iterator[http.client.HTTPConnection]:
        """Provide a connection, and keep it if its request has worked."""
        connection = self._take() or self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append((time.monotonic(), connection))

    def _take(self) -> http.client.HTTPConnection | None:
        while self._idle:
            # Taken without a lock: another thread may have been faster.
            with contextlib.suppress(IndexError):
                used_at, connection = self._idle.pop()
                is_fresh = time.monotonic() - used_at < self._reused_within
                if is_fresh and _is_quiet(connection):
                    return connection
                connection.close()
        return None


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """
    Return whether a connection is open and nothing has arrived: a server that stopped has closed
    its side, and a request on it would fail.
    """
    if connection.sock is None:
        return False
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


def _close_all(idle: Idle) -> None:
    for _, connection in idle:
        connection.close()
