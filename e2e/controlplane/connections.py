"""
Connections that are used again: a TLS handshake costs more than most requests of a test.
"""

import contextlib
import http.client
import select
import weakref
from collections.abc import Callable, Iterator


class Connections:
    """
    The idle connections to one server, for any number of threads.
    """

    def __init__(self, connect: Callable[[], http.client.HTTPConnection]) -> None:
        self._connect = connect
        self._idle: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close_all, self._idle)

    @contextlib.contextmanager
    def one(self) -> Iterator[http.client.HTTPConnection]:
        """
        Provide a connection, and keep it if its request has worked.
        """
        connection = self._take() or self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _take(self) -> http.client.HTTPConnection | None:
        while self._idle:
            # Taken without a lock: another thread may have been faster.
            with contextlib.suppress(IndexError):
                connection = self._idle.pop()
                if _is_quiet(connection):
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


def _close_all(idle: list[http.client.HTTPConnection]) -> None:
    for connection in idle:
        connection.close()
