"""A TCP connection that loses answers on demand."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from devcluster.server import DevCluster
from reporter.kube.client import RestClient


class LossyConnection:
    """
    Carry bytes between a client and a server, and lose answers on demand.

    The next *lose* requests that match *asked* arrive, but no byte of their answers comes back:
    the connection is cut, or with *mute* stays open without an answer.
    """

    def __init__(self, port: int) -> None:
        self.lose, self.asked, self.mute, self.lost = 0, rb"^$", False, 0
        self.port = 0
        self._to = port

    def lose_answers(self, times: int, asked: bytes, *, mute: bool = False) -> None:
        self.lose, self.asked, self.mute = times, asked, mute

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._to)
        doomed = False

        async def up() -> None:
            nonlocal doomed
            while data := await reader.read(65536):
                if self.lose and re.match(self.asked, data):
                    self.lose -= 1
                    doomed = True
                ours.write(data)
            ours.close()

        async def down() -> None:
            while data := await theirs.read(65536):
                if not doomed:
                    writer.write(data)
                    continue
                self.lost += 1
                if not self.mute:
                    break
            writer.close()

        try:
            async with asyncio.TaskGroup() as group:
                for way in (up(), down()):
                    group.create_task(way)
        except* OSError:
            pass
        finally:
            ours.close()
            writer.close()


@asynccontextmanager
async def a_lossy_connection(server: DevCluster) -> AsyncIterator[LossyConnection]:
    connection = LossyConnection(server.port)
    async with await asyncio.start_server(connection.forward, "127.0.0.1", 0) as listening:
        connection.port = listening.sockets[0].getsockname()[1]
        yield connection


class ShortTimeoutApi(RestClient):
    """A client that waits for an answer no longer than half a second."""

    def __init__(self, api: RestClient) -> None:
        self.api = api

    async def call(self, method, path, **given):
        given["timeout"] = timedelta(seconds=0.5)
        return await self.api.call(method, path, **given)
