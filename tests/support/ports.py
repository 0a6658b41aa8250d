"""Ports for servers that a test starts a moment later, and ports that refuse connections."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


FIRST, END = 20000, 32000
"""
Below the ephemeral range (32768 and up on Linux): a client that tries to reach a stopped server
must neither take its port nor connect to itself.
"""


def free_port() -> int:
    """
    Return a free port that no other test gets. Its server binds it later, so that it is free now
    proves little: all processes of this user take turns in one file, and a port comes again only
    after all the others.
    """
    turns = Path(tempfile.gettempdir()) / f"productionstack-ports-{os.getuid()}"
    with turns.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        port = _next_free(int(file.read() or random.randrange(FIRST, END)))
        file.truncate(0)
        file.write(str(port))
    return port


def _next_free(port: int) -> int:
    while True:
        port = port + 1 if port + 1 < END else FIRST
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def refusing_port() -> Iterator[int]:
    """Yield a port that refuses connections: it stays bound, so no other process listens at it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        yield port
