"""
Serves metrics on one HTTP address, health and readiness on another.

The status page is served with health and readiness, or on an address of its own.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from reporter.runtime.http.limits import ConnectionTimeouts
from reporter.runtime.http.listener import Listener, OnClosed
from reporter.runtime.http.requests import Request
from reporter.runtime.http.responses import Response, text_response
from reporter.settings import BindAddress


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
JSON_TYPE = "application/json; charset=utf-8"
METHODS = ("GET", "HEAD")

Route = Callable[[Request], Response]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pages:
    """
    *status* returns the page in parts. *livez* and *readyz* return why not, or an empty text.
    """

    metrics: Callable[[], bytes]
    status: Callable[[], Iterator[str]]
    livez: Callable[[], str]
    readyz: Callable[[], str]


class SharedPage:
    """
    A page that is rendered for at most a fifth of the time; in between its readers share it.
    """

    def __init__(self, render: Callable[[], bytes]) -> None:
        self._render = render
        self._page: bytes | None = None

    def get(self) -> bytes:
        if self._page is None:
            loop = asyncio.get_running_loop()
            begun = loop.time()
            self._page = self._render()
            loop.call_later(4 * (loop.time() - begun), self._drop)
        return self._page

    def _drop(self) -> None:
        self._page = None


class HttpServer:
    """
    Nothing is served for an address of None.

    *on_closed* is called for each connection that the server ends early.
    """

    def __init__(
        self,
        pages: Pages,
        *,
        metrics: BindAddress | None,
        health: BindAddress | None,
        status: BindAddress | None,
        on_closed: OnClosed = lambda *_: None,
        timeouts: ConnectionTimeouts | None = None,
    ) -> None:
        self._pages, self._metrics_page = pages, SharedPage(pages.metrics)
        self._metrics, self._health, self._status = metrics, health, status
        self._on_closed, self._timeouts = on_closed, timeouts or ConnectionTimeouts()
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """
        Raises OSError for an address that is not free.
        """
        if self._metrics is not None:
            await self._serve(self._metrics, {"/metrics": self._show_metrics})
        status: dict[str, Route] = {"/status": self._show_status}
        if self._health is not None:
            routes: dict[str, Route] = {
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

    async def _serve(self, address: BindAddress, routes: Mapping[str, Route]) -> None:
        listener = Listener(
            address,
            partial(_respond, routes),
            on_closed=self._on_closed,
            timeouts=self._timeouts,
        )
        await listener.start()
        self._stack.push_async_callback(listener.stop)

    def _show_metrics(self, _: Request) -> Response:
        return Response(HTTPStatus.OK, self._metrics_page.get(), METRICS_TYPE)

    def _show_status(self, _: Request) -> Response:
        parts = self._pages.status()
        return Response(HTTPStatus.OK, _encode_parts(next(parts), parts), JSON_TYPE)

    def _show_livez(self, _: Request) -> Response:
        return _health_response(self._pages.livez())

    def _show_readyz(self, _: Request) -> Response:
        return _health_response(self._pages.readyz())


def _respond(routes: Mapping[str, Route], request: Request) -> Response:
    route = routes.get(request.path)
    if route is None:
        return text_response(HTTPStatus.NOT_FOUND)
    if request.method not in METHODS:
        return text_response(HTTPStatus.METHOD_NOT_ALLOWED, Allow=", ".join(METHODS))
    try:
        return route(request)
    except Exception:
        # A page that fails must not end the others; which one it is, is in the log.
        logger.exception("%s cannot be rendered", request.path)
        return text_response(HTTPStatus.INTERNAL_SERVER_ERROR)


def _encode_parts(first: str, rest: Iterator[str]) -> Generator[bytes, None, None]:
    yield first.encode()
    for part in rest:
        yield part.encode()


def _health_response(why_not: str) -> Response:
    return text_response(
        HTTPStatus.SERVICE_UNAVAILABLE if why_not else HTTPStatus.OK, why_not or "ok"
    )
