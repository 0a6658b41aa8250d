"""The network between one client and the API server, which can be cut while others go on."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.controlplane import ControlPlane
from tests.support.ports import free_port


class CuttableConnection:
    """Forward connections, in a thread of its own."""

    def __init__(self, target: int) -> None:
        self.port, self._target = free_port(), target
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def kubeconfig(self, original: Path) -> Path:
        """Write a copy of a kubeconfig that uses this connection."""
        content = json.loads(original.read_text())
        for cluster in content["clusters"]:
            cluster["cluster"]["server"] = f"https://127.0.0.1:{self.port}"
        path = original.with_suffix(".wire.kubeconfig")
        path.write_text(json.dumps(content))
        return path

    def connect(self) -> None:
        self._do(self._listen())

    def cut(self) -> None:
        """Reset every connection, and refuse each new one."""
        self._do(self._close())

    def reset_connections(self) -> None:
        """
        Reset every connection and accept new ones, so that every watch has to be opened anew.
        """
        self.cut()
        self.connect()

    def start(self) -> None:
        self._thread.start()
        self.connect()

    def stop(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # ------------------------------------------------------------ in the thread

    def _do(self, what: Any) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout=60)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", self.port)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        while self._open:  # one that is just opened to the server is open after this turn
            for writer in tuple(self._open):
                writer.transport.abort()
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # transports close in a later turn of the loop

    async def _forward(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """
        Forward one connection. One that is cut before the server has answered is never forwarded.
        """
        self._open.add(back)
        try:
            with contextlib.suppress(OSError):
                far, forth = await asyncio.open_connection("127.0.0.1", self._target)
                if back.is_closing():
                    forth.close()
                    return
                await self._pump_both(near, forth, far, back)
        finally:
            self._open.discard(back)
            back.close()

    async def _pump_both(
        self,
        near: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
        far: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        self._open.add(forth)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(near, forth))
                group.create_task(_pump(far, back))
        finally:
            self._open.discard(forth)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(2**16):
            sink.write(data)
            await sink.drain()
    sink.close()


@contextlib.contextmanager
def cuttable_connection(plane: ControlPlane) -> Iterator[CuttableConnection]:
    """Forward connections to the API server of *plane*."""
    way = CuttableConnection(plane.client.port)
    way.start()
    try:
        yield way
    finally:
        way.stop()
