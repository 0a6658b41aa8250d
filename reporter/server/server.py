"""
Serves metrics on one HTTP address, health and readiness on another.

The status page is served with health and readiness, or on an address of its own.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain

from aiohttp import HttpVersion10, HttpVersion11, hdrs
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server
from msgspec import Struct, field

from reporter import PROGRAM_NAME
from reporter.metrics.process import Exposition
from reporter.model.enums import ClosedConnection
from reporter.process.clock import monotonic_seconds
from reporter.server.connection import ClosedConnectionLog, Connection, ConnectionLimit, OnClosed
from reporter.server.host_check import refuse_foreign_names
from reporter.server.limits import BACKLOG, STOP_TIMEOUT, ConnectionTimeouts
from reporter.server.responses import JSON
from reporter.server.routes import Handler, RoutedRequest, Routes
from reporter.settings import BindAddress, Settings


logger = logging.getLogger(__name__)


class Pages(Struct, frozen=True):
    """
    The functions that render each page.

    *metrics* takes the Accept header. *status* returns the page in parts. *livez* and *readyz* return why
    not, or an empty text. *limits* returns lines to add to a *readyz* that is ok. *status_v1* and *page*:
    handlers by path, which are served where the status is. *guard* wraps each handler of the status, to
    check who asks.
    """

    metrics: Callable[[str], Exposition]
    status: Callable[[], Iterator[str]]
    livez: Callable[[], str]
    readyz: Callable[[], str]
    limits: Callable[[], str] = lambda: ""
    status_v1: Mapping[str, Handler] = field(default_factory=dict)
    page: Mapping[str, Handler] = field(default_factory=dict)
    guard: Callable[[Handler], Handler] = lambda show: show


class HttpServer:
    """
    The HTTP server of a process, with up to three addresses; nothing is served for one that is None.

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
        self._pages = pages
        self._metrics, self._health, self._status = metrics, health, status
        self._on_closed, self._timeouts = on_closed, timeouts or ConnectionTimeouts()
        self._formatting = asyncio.Lock()
        self._servers: list[Server] = []
        self._listeners: list[asyncio.Server] = []

    async def start(self) -> None:
        """Listen on each address that is not None. Raises OSError for one that is not free."""
        if self._metrics is not None:
            await self._serve(self._metrics, {"/metrics": self._show_metrics})
        pages: dict[str, Handler] = {
            "/status": self._show_status,
            **self._pages.status_v1,
            **self._pages.page,
        }
        status = {
            path: refuse_foreign_names(self._pages.guard(show)) for path, show in pages.items()
        }
        if self._health is not None:
            routes: dict[str, Handler] = {
                "/livez": self._show_livez,
                "/healthz": self._show_livez,
                "/readyz": self._show_readyz,
            }
            same = self._status == self._health
            await self._serve(self._health, routes | status if same else routes)
        if self._status is not None and self._status != self._health:
            await self._serve(self._status, status)

    async def stop(self) -> None:
        """
        Stop listening, then wait for responses under way, at most STOP_TIMEOUT, side by side.

        Nothing happens to a server that was not started.
        """
        for listener in self._listeners:
            listener.close()
        # Requests that have come begin to be answered, before connections without one are closed.
        await asyncio.sleep(0)
        # aiohttp waits twice for this long: for the response, and for the task that sends it.
        wait = STOP_TIMEOUT.total_seconds() / 2
        async with asyncio.TaskGroup() as group:
            for server in self._servers:
                server.pre_shutdown()
                group.create_task(server.shutdown(wait), name="stop serving")

    async def _serve(self, address: BindAddress, routes: Mapping[str, Handler]) -> None:
        loop = asyncio.get_running_loop()
        # Who waits for a change and leaves must not take up the room of others until it comes.
        server = Server(
            partial(_respond, Routes(routes)),
            request_factory=partial(RoutedRequest, loop=loop),
            handler_cancellation=True,
        )
        self._servers.append(server)
        connect = partial(Connection, server, ConnectionLimit(self._on_closed), self._timeouts)
        listener = await loop.create_server(
            connect,
            address.host or None,
            address.port,
            backlog=BACKLOG,
        )
        self._listeners.append(listener)

    async def _show_metrics(self, request: RoutedRequest) -> Response:
        page = self._pages.metrics(",".join(request.headers.getall(hdrs.ACCEPT, ())))
        # Ten thousand InferenceSets with trouble take half a second. One page at a time, so that many
        # clients do not take the processor from the event loop.
        async with self._formatting:
            body = await asyncio.to_thread(page.encode)
        return Response(body=body, headers={hdrs.CONTENT_TYPE: page.content_type})

    async def _show_status(self, request: RoutedRequest) -> StreamResponse:
        parts = (part.encode() for part in self._pages.status())
        return await send_parts(request, StreamResponse(headers={hdrs.CONTENT_TYPE: JSON}), parts)

    async def _show_livez(self, _: RoutedRequest) -> Response:
        return _health_response(self._pages.livez())

    async def _show_readyz(self, _: RoutedRequest) -> Response:
        return _health_response(self._pages.readyz(), self._pages.limits())


def make_server(
    settings: Settings, pages: Pages, count_closed: Callable[[ClosedConnection], None]
) -> HttpServer:
    """
    Return the server of a process, at the addresses that the flags give; it is not started.

    *count_closed*: called for each connection that the server closes early.
    """
    return HttpServer(
        pages,
        metrics=settings.metrics_bind_address,
        health=settings.health_probe_bind_address,
        status=settings.status_bind_address,
        on_closed=ClosedConnectionLog(count_closed, monotonic_seconds).record,
    )


async def send_parts(
    request: RoutedRequest, response: StreamResponse, parts: Generator[bytes, None, None]
) -> StreamResponse:
    """
    Send an answer in parts, and close *parts*; other tasks run before the next part is rendered.

    What rendering the first part raises, it raises before the headers are sent.
    """
    if request.version == HttpVersion10:
        response.force_close()  # the end of the connection is the end of the answer
    # What it shows stays in memory until it is closed.
    with closing(parts):
        # Rendered before the headers are sent, so that a fault is answered as one.
        first = next(parts)
        _set_headers(response)
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            for part in chain((first,), parts):
                await response.write(part)
                await asyncio.sleep(0)
    return response


async def _respond(routes: Routes, request: BaseRequest) -> StreamResponse:
    """Limit the time of a response, and log a page that cannot be rendered."""
    connection = request.protocol
    if not (isinstance(connection, Connection) and isinstance(request, RoutedRequest)):
        raise TypeError("each connection and each request of this server is made by it")
    if request.version not in {HttpVersion10, HttpVersion11}:
        # aiohttp would answer in the version of the request.
        connection.abort(ClosedConnection.MALFORMED)
        raise ConnectionAbortedError
    with connection.responding():
        try:
            response = await routes.respond(request)
        except ConnectionError:
            raise
        except Exception:
            # A page that fails must not end the others; which one it is, is in the log.
            logger.exception("%s cannot be rendered", request.path)
            if request.writer.output_size:
                connection.abort()
            response = Response(status=500, text="Internal Server Error\n")
    _set_headers(response)
    return response


def _set_headers(response: StreamResponse) -> None:
    """
    Replace aiohttp's Server header, which names the versions of aiohttp and Python.

    Texts in a response are those of others: no browser may take it for HTML, or load it into the page
    of another site.
    """
    response.headers[hdrs.SERVER] = PROGRAM_NAME
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"


def _health_response(why_not: str, limits: str = "") -> Response:
    lines = (why_not,) if why_not else ("ok", limits)
    text = "\n".join(line for line in lines if line)
    return Response(text=f"{text}\n", status=503 if why_not else 200)
