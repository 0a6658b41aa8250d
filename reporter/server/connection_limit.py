"""
Limit the connections of one listening address.

One that is one too many takes the place of another: a connection of the client that has most, and
of these the oldest that waits. So no number of idle or slow clients keeps a probe from its answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from reporter.model.enums import ClosedConnection
from reporter.server.connection import Connection
from reporter.server.limits import MAX_CONNECTIONS


OnClosed = Callable[[ClosedConnection, str], None]
"""Called with the reason for which a connection was closed early, and the client."""


class ConnectionLimit:
    """The open connections, in the order of their age."""

    def __init__(self, on_closed: OnClosed) -> None:
        self._on_closed = on_closed
        self._open: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        if len(self._open) >= MAX_CONNECTIONS:
            crowded_out = choose_to_close(self._open)
            self.lost(crowded_out)
            crowded_out.abort(ClosedConnection.CROWDED_OUT)
        self._open[connection] = None

    def lost(self, connection: Connection) -> None:
        self._open.pop(connection, None)

    def closed_early(self, connection: Connection, why: ClosedConnection) -> None:
        self._on_closed(why, connection.client)


def choose_to_close(connections: Iterable[Connection]) -> Connection:
    """
    Return the connection to close for a new one; *connections* are in the order of their age.
    """
    by_client = Counter(each.client for each in connections)
    return min(connections, key=lambda each: (-by_client[each.client], not each.is_waiting))
