"""
All limits of the HTTP server but that of a request's head: times, and connections at once.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ConnectionTimeouts:
    """
    The time that a client has for each of its steps.

    *request*: to send a whole head, from its first byte, the first one from connecting.
    *idle*: between two requests. *response*: to read a whole response.
    """

    request: timedelta = timedelta(seconds=5)
    idle: timedelta = timedelta(seconds=75)
    response: timedelta = timedelta(seconds=60)


MAX_CONNECTIONS = 64
"""
Connections of one listening address. One more closes another, so that a probe always gets in.

Three addresses with 64 each, and 32 while they change, 512 scrapes and 128 connections to the API
server are 928 open files, of the usual 1,024.
"""

LISTENING_ADDRESSES = 3

BACKLOG = 512
"""
Connections that the kernel keeps until they are accepted; it takes net.core.somaxconn if that is lower.
"""

LINGER, LINGER_BYTES = timedelta(seconds=1), 64 * 1024
"""
How long and how much is still read and discarded after the last response. To close a socket with
unread data resets the connection, and the client may lose the response (RFC 9112 section 9.6).
"""

ACCEPTS_BETWEEN_YIELDS = 32
"""
Connections that are accepted before other tasks run. A connection that makes room for another keeps
its file until then.
"""

MAX_OPEN_FILES = LISTENING_ADDRESSES * (MAX_CONNECTIONS + ACCEPTS_BETWEEN_YIELDS)

ACCEPT_PAUSE = timedelta(seconds=0.1)
"""
The pause after the kernel could not accept a connection, for example for want of open files.
"""

STOP_TIMEOUT = timedelta(seconds=1)
"""
How long responses that have begun may take when the server stops.
"""
