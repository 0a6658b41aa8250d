"""
Serves metrics on one HTTP address, health and readiness on another.

The status page is served with health and readiness, or on an address of its own.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from aiohttp import hdrs, web

from reporter.settings import BindAddress


STATUS_TIMEOUT = timedelta(seconds=60)
"""
How long a slow reader of the status page is served: what it shows stays in memory for as long.
"""


@dataclass(frozen=True, slots=True)
class Pages:
    """
    The functions that render each page.

    *status* returns the page in parts. *livez* and *readyz* return why not, or an empty text.
    *unknown* returns lines to add to a *readyz* that is ok.
    """

    metrics: Callable[[], bytes]
    status: Callable[[], Iterator[str]]
    livez: Callable[[], str]
    readyz: Callable[[], str]
    unknown: Callable[[], str] = lambda: ""


class HttpServer:
    """
    Nothing is served for an address of None.
    """

    def __init__(
        self,
        pages: Pages,
        *,
        metrics: BindAddress | None,
        health: BindAddress | None,
        status: BindAddress | None,
    ) -> None:
        self._pages = pages
        self._metrics, self._health, self._status = metrics, health, status
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """
        Raises OSError for an address that is not free.
        """
        if self._metrics is not None:
            await self._serve(self._metrics, {"/metrics": self._show_metrics})
        status = {"/status": self._show_status}
        if self._health is not None:
            routes = {
                "/livez": self._show_livez,
                "/healthz": self._show_livez,
                "/readyz": self._show_readyz,
            }
            same = self._status == self._health
            await self._serve(self._health, routes | status if same else routes)
        if self._status is not None and self._status != self._health:
            await self._serve(self._status, status)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def _serve(self, address: BindAddress, routes: dict[str, Any]) -> None:
        app = web.Application()
        app.add_routes([web.get(path, show) for path, show in routes.items()])
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, address.host or None, address.port).start()

    async def _show_metrics(self, _: web.Request) -> web.Response:
        return web.Response(
            body=self._pages.metrics(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    async def _show_status(self, request: web.Request) -> web.StreamResponse:
        """
        Send the page in parts; other tasks run before the next part is rendered.
        """
        parts = self._pages.status()
        first = next(parts)
        response = web.StreamResponse(headers={"Content-Type": "application/json; charset=utf-8"})
        try:
            async with asyncio.timeout(STATUS_TIMEOUT.total_seconds()):
                await response.prepare(request)
                if request.method == hdrs.METH_HEAD:
                    return response
                for part in chain((first,), parts):
                    await response.write(part.encode())
                    await asyncio.sleep(0)
        except TimeoutError:
            response.force_close()
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _show_livez(self, _: web.Request) -> web.Response:
        return _health_response(self._pages.livez())

    async def _show_readyz(self, _: web.Request) -> web.Response:
        return _health_response(self._pages.readyz(), self._pages.unknown())


def _health_response(why_not: str, unknown: str = "") -> web.Response:
    lines = (why_not,) if why_not else ("ok", unknown)
    text = "\n".join(line for line in lines if line)
    return web.Response(text=f"{text}\n", status=503 if why_not else 200)
