"""The limits of the HTTP server: times, and connections at once."""

from datetime import timedelta

from msgspec import Struct


class ConnectionTimeouts(Struct, frozen=True):
    """
    The time that a client has for each of its steps.

    *request*: to send a whole head, from connecting or from its first byte.
    *idle*: between two requests. *response*: to read a whole response.
    """

    request: timedelta = timedelta(seconds=5)
    idle: timedelta = timedelta(seconds=75)
    response: timedelta = timedelta(seconds=60)


MAX_CONNECTIONS = 64
"""
Connections of one listening address. One more closes another, so that a probe always gets in.
"""

LISTENING_ADDRESSES = 3

BACKLOG = 32
"""
Connections that the kernel keeps until they are accepted. asyncio accepts as many before other tasks
run.
"""

MAX_OPEN_FILES = LISTENING_ADDRESSES * (MAX_CONNECTIONS + BACKLOG)
"""A connection that makes room for another keeps its file until other tasks run."""

STOP_TIMEOUT = timedelta(seconds=1)
"""Time that responses that have begun may take when the server stops."""
