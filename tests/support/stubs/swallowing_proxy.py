"""A proxy in front of an API server that swallows lines of its watches on demand."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web
from yarl import URL

from tests.support.stubs.api_servers import StubServer, a_kubeconfig, serving


OF_ONE_CONNECTION = {"host", "connection", "content-length", "transfer-encoding"}
ONE_NAME = "metadata.name"


class SwallowingProxy:
    """
    Passes every request on. *swallowed*: type and name of each object whose line was kept back.

    *looks_pass*: while it is not set, lists of a single object wait.
    """

    def __init__(self, url: str) -> None:
        self.swallowed: list[tuple[str, str]] = []
        self.looks_pass = asyncio.Event()
        self.looks_pass.set()
        self._url, self._swallow = url, ""
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self.server: StubServer

    def swallow(self, name: str) -> None:
        """Swallow the next line of an object whose name matches an expression."""
        self._swallow = name

    @property
    def looks(self) -> list[str]:
        """The paths of all lists of a single object."""
        asked = (request.rel_url for request in self.server.requests)
        return [url.path for url in asked if ONE_NAME in url.query.get("fieldSelector", "")]

    def write_kubeconfig(self, path: Path) -> Path:
        return Path(a_kubeconfig(path.parent, self.server.url))

    async def forward(self, request: web.BaseRequest) -> web.StreamResponse:
        url = URL(self._url + request.raw_path, encoded=True)
        if ONE_NAME in url.query.get("fieldSelector", ""):
            await self.looks_pass.wait()
        async with self._session.request(
            request.method, url, data=await request.read(), headers=_passed(request.headers)
        ) as answer:
            response = web.StreamResponse(status=answer.status, headers=_passed(answer.headers))
            await response.prepare(request)
            if "watch" not in request.query:
                await response.write(await answer.read())
                return response
            while line := await answer.content.readline():
                if not self._is_swallowed(line):
                    await response.write(line)
            return response

    def _is_swallowed(self, line: bytes) -> bool:
        event = json.loads(line)
        name = event["object"].get("metadata", {}).get("name", "")
        if not self._swallow or not re.fullmatch(self._swallow, name):
            return False
        self.swallowed.append((event["type"], name))
        self._swallow = ""
        return True

    async def close(self) -> None:
        await self._session.close()


def _passed(headers) -> dict[str, str]:
    return {name: text for name, text in headers.items() if name.lower() not in OF_ONE_CONNECTION}


@asynccontextmanager
async def swallowing_proxy(url: str) -> AsyncIterator[SwallowingProxy]:
    proxy = SwallowingProxy(url)
    try:
        async with serving(proxy.forward) as proxy.server:
            yield proxy
    finally:
        await proxy.close()
