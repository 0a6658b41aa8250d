"""
The page at an address of its own, with a document instead of a cluster behind it.

The page's files and the server are those of the program; the requests are answered as the
documentation of ``/status/v1`` has it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from aiohttp import hdrs, web
from msgspec.structs import replace

from reporter.model.fleet_status import FleetDocument
from reporter.model.status_document import StatusDocument
from reporter.server.server import HttpServer
from reporter.server.static_files import page_routes
from reporter.server.status_v1 import encode
from tests.integration.page.browser_page import WAIT_SECONDS
from tests.integration.server.served_pages import ALWAYS_OK, free


STALE_AFTER = timedelta(seconds=90)


class ServedDocument:
    """
    *refusal*: a status to answer with, and to wait for *retry_after* seconds. *longest_wait*: seconds.
    *requests*: the paths with their queries.
    """

    def __init__(self, document: StatusDocument | FleetDocument) -> None:
        self.document, self.refusal, self.retry_after = document, 0, 1
        self.address = free()
        self.longest_wait, self.stale_after = 30.0, STALE_AFTER
        self.requests: list[str] = []
        self.waiting = 0
        self._revision, self._changed = 1, asyncio.Event()
        self._server: HttpServer | None = None

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    def change(self, document: StatusDocument | FleetDocument) -> None:
        self.document = document
        self._revision += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def start(self) -> None:
        pages = replace(
            ALWAYS_OK, status_v1={"/status/v1": self.show}, page=page_routes(self.stale_after)
        )
        self._server = HttpServer(pages, metrics=None, health=None, status=self.address)
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()
            self._server = None

    async def until_waiting(self) -> None:
        """Wait until a page waits for a change."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not self.waiting:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def show(self, request: web.Request) -> web.StreamResponse:
        tag = request.headers.get(hdrs.IF_NONE_MATCH, "")
        self.requests.append(request.path_qs)
        if self.refusal:
            return web.Response(
                status=self.refusal, headers={hdrs.RETRY_AFTER: str(self.retry_after)}
            )
        if tag == self._tag:
            await self._wait(min(float(request.query.get("wait", 0)), self.longest_wait))
        if tag == self._tag:
            return web.Response(status=304, headers={hdrs.ETAG: self._tag})
        return web.Response(
            body=encode(self.document),
            headers={hdrs.CONTENT_TYPE: "application/json", hdrs.ETAG: self._tag},
        )

    async def _wait(self, seconds: float) -> None:
        self.waiting += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        finally:
            self.waiting -= 1

    @property
    def _tag(self) -> str:
        return f'W/"document-{self._revision}"'


@asynccontextmanager
async def serving_document(
    document: StatusDocument | FleetDocument, *, stale_after: timedelta = STALE_AFTER
) -> AsyncIterator[ServedDocument]:
    served = ServedDocument(document)
    served.stale_after = stale_after
    await served.start()
    try:
        yield served
    finally:
        await served.stop()
