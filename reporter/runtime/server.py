"""
What is served over HTTP: metrics on one address, health and readiness on another.

The status page is with these, or where only its readers are.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from aiohttp import hdrs, web

from reporter.settings import Address


PATIENCE = timedelta(seconds=60)
"""
With one who reads the status page: what it tells of is kept for as long.
"""


@dataclass(frozen=True, slots=True)
class Pages:
    """
    *status* returns its parts. *alive* and *ready* return why not, or nothing.
    """

    metrics: Callable[[], bytes]
    status: Callable[[], Iterator[str]]
    alive: Callable[[], str]
    ready: Callable[[], str]


class Server:
    """
    An address of None is not served.
    """

    def __init__(
        self,
        pages: Pages,
        *,
        metrics: Address | None,
        health: Address | None,
        status: Address | None,
    ) -> None:
        self._pages = pages
        self._metrics, self._health, self._status = metrics, health, status
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """
        Raises OSError for an address that cannot be had.
        """
        if self._metrics is not None:
            await self._serve(self._metrics, {"/metrics": self._show_metrics})
        shown = {"/status": self._show_status}
        if self._health is not None:
            routes = {
                "/livez": self._show_alive,
                "/healthz": self._show_alive,
                "/readyz": self._show_ready,
            }
            together = self._status == self._health
            await self._serve(self._health, routes | shown if together else routes)
        if self._status is not None and self._status != self._health:
            await self._serve(self._status, shown)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def _serve(self, address: Address, routes: dict[str, Any]) -> None:
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
        Part by part, each made when the one before was sent and all else had its turn.
        """
        parts = self._pages.status()
        first = next(parts)
        response = web.StreamResponse(headers={"Content-Type": "application/json; charset=utf-8"})
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
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

    async def _show_alive(self, _: web.Request) -> web.Response:
        return _answer(self._pages.alive())

    async def _show_ready(self, _: web.Request) -> web.Response:
        return _answer(self._pages.ready())


def _answer(why_not: str) -> web.Response:
    return web.Response(text=f"{why_not or 'ok'}\n", status=503 if why_not else 200)
