"""
A way to the API server that counts the bytes which pass, TLS and all, and changes none.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from e2e.controlplane.processes import free_port


PIECE = 2**18


class ByteCounts(NamedTuple):
    """
    As its client sees them.
    """

    sent: int
    received: int


class CountingProxy:
    """
    Works in a thread of its own.
    """

    def __init__(self, server: int) -> None:
        self._server, self.port = server, free_port()
        self._sent = self._received = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def byte_counts(self) -> ByteCounts:
        return ByteCounts(self._sent, self._received)

    def kubeconfig(self, original: Path) -> Path:
        """
        The same, but through this relay.
        """
        content = json.loads(original.read_text())
        for cluster in content["clusters"]:
            cluster["cluster"]["server"] = f"https://127.0.0.1:{self.port}"
        path = original.with_suffix(f".{self.port}.kubeconfig")
        path.write_text(json.dumps(content))
        return path

    def start(self) -> None:
        self._thread.start()
        listening = asyncio.start_server(self._connected, "127.0.0.1", self.port)
        asyncio.run_coroutine_threadsafe(listening, self._loop).result(timeout=10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            far, on = await asyncio.open_connection("127.0.0.1", self._server)
        except OSError:
            back.close()
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass(near, on, up=True))
            group.create_task(self._pass(far, back, up=False))

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, up: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(PIECE):
                if up:
                    self._sent += len(piece)
                else:
                    self._received += len(piece)
                writer.write(piece)
                await writer.drain()
        writer.close()


@contextlib.contextmanager
def counting_proxy(server: int) -> Iterator[CountingProxy]:
    """
    To the port of that server on this machine.
    """
    relay = CountingProxy(server)
    relay.start()
    try:
        yield relay
    finally:
        relay.stop()
