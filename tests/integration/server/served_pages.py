"""The HTTP endpoints on free addresses, and a client of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from reporter.metrics.process import Exposition
from reporter.server.server import HttpServer, Pages
from reporter.settings.parsers import BindAddress
from tests.support.ports import free_port


PLAIN_TEXT = "text/plain; version=0.0.4; charset=utf-8"


def a_page(body: bytes) -> Callable[[str], Exposition]:
    return lambda _: Exposition(PLAIN_TEXT, lambda: body)


ALWAYS_OK = Pages(
    metrics=a_page(b"a 1\n"),
    status=lambda: iter(("{}\n",)),
    livez=lambda: "",
    readyz=lambda: "",
)


def free() -> BindAddress:
    return BindAddress("127.0.0.1", free_port())


class ServedPages:
    def __init__(
        self, metrics: BindAddress, health: BindAddress, session: aiohttp.ClientSession
    ) -> None:
        self.metrics, self.health, self._session = metrics, health, session

    async def get(
        self, address: BindAddress, path: str, method: str = "GET"
    ) -> tuple[int, str, str]:
        """Return status, type and text."""
        async with self._session.request(method, f"http://{address}{path}") as response:
            kind = response.headers["Content-Type"]
            return response.status, kind, await response.text()


@asynccontextmanager
async def serving(
    pages: Pages = ALWAYS_OK, status: BindAddress | None = None, **how
) -> AsyncIterator[ServedPages]:
    metrics, health = free(), free()
    server = HttpServer(pages, metrics=metrics, health=health, status=status or health, **how)
    await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield ServedPages(metrics, health, session)
    finally:
        await server.stop()


async def exchange(address: BindAddress, sent: bytes) -> bytes:
    """Send and return all that is received until the server closes."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(sent)
        async with asyncio.timeout(60):
            return await reader.read()
    except (ConnectionResetError, BrokenPipeError):
        return b""
    finally:
        writer.transport.abort()
