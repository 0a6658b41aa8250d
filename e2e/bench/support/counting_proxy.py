"""A TCP proxy to the API server that counts the bytes, TLS included."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.ports import free_port


CHUNK_SIZE = 2**18


class ByteCounts(NamedTuple):
    """Bytes that the client has sent and received."""

    sent: int
    received: int


class CountingProxy:
    """A proxy that runs in its own thread."""

    def __init__(self, server: int) -> None:
        self._server, self.port = server, free_port()
        self._sent = self._received = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def byte_counts(self) -> ByteCounts:
        return ByteCounts(self._sent, self._received)

    def kubeconfig(self, original: Path) -> Path:
        """Write a copy of a kubeconfig that uses this proxy, and return its path."""
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

    async def _connected(
        self, client_reader: asyncio.StreamReader, client_writer: asyncio.StreamWriter
    ) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server)
        except OSError:
            client_writer.close()
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._forward(client_reader, server_writer, up=True))
            group.create_task(self._forward(server_reader, client_writer, up=False))

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, up: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(CHUNK_SIZE):
                if up:
                    self._sent += len(chunk)
                else:
                    self._received += len(chunk)
                writer.write(chunk)
                await writer.drain()
        writer.close()


@contextlib.contextmanager
def counting_proxy(server: int) -> Iterator[CountingProxy]:
    """Run a proxy to a port of this machine."""
    proxy = CountingProxy(server)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
