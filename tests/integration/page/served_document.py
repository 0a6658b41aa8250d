"""
The page at an address of its own, with a document instead of a cluster behind it.

The page's files and the server are those of the program; the requests are answered as the
documentation of ``/status/v1`` has it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from aiohttp import hdrs, web

from reporter.model.rollup.status import StatusDocument
from reporter.runtime.http.server import HttpServer
from reporter.runtime.http.static_files import page_routes
from reporter.sinks.status_v1 import encode
from tests.integration.http.served_pages import ALWAYS_OK, free


STALE_AFTER = timedelta(seconds=90)


class ServedDocument:
    """
    *busy*: answer 429. *requests*: the paths with their queries, and the tags that clients have.
    """

    def __init__(self, document: StatusDocument) -> None:
        self.document, self.busy = document, False
        self.address = free()
        self.requests: list[tuple[str, str]] = []
        self._revision, self._changed = 1, asyncio.Event()
        self._server: HttpServer | None = None
        self.stale_after = STALE_AFTER

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    def change(self, document: StatusDocument) -> None:
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

    async def show(self, request: web.Request) -> web.StreamResponse:
        tag = request.headers.get(hdrs.IF_NONE_MATCH, "")
        self.requests.append((request.path_qs, tag))
        if self.busy:
            return web.Response(status=429, headers={hdrs.RETRY_AFTER: "1"})
        if tag == self._tag and request.query.get("wait"):
            with suppress(TimeoutError):
                async with asyncio.timeout(int(request.query["wait"])):
                    await self._changed.wait()
        if tag == self._tag:
            return web.Response(status=304, headers={hdrs.ETAG: self._tag})
        return web.Response(
            body=encode(self.document),
            headers={hdrs.CONTENT_TYPE: "application/json", hdrs.ETAG: self._tag},
        )

    @property
    def _tag(self) -> str:
        return f'W/"document-{self._revision}"'


@asynccontextmanager
async def serving_document(
    document: StatusDocument, *, stale_after: timedelta = STALE_AFTER
) -> AsyncIterator[ServedDocument]:
    served = ServedDocument(document)
    served.stale_after = stale_after
    await served.start()
    try:
        yield served
    finally:
        await served.stop()
