"""Answer requests for ``/status/v1``: conditional ones, and those that wait for a change."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from aiohttp import ETag, hdrs
from aiohttp.web_response import Response, StreamResponse
from msgspec import Struct

from reporter.model.status_document import StatusError
from reporter.server import status_v1
from reporter.server.responses import JSON, error_response
from reporter.server.routes import Handler, RoutedRequest
from reporter.server.server import send_parts
from reporter.server.status_v1 import too_many_waiting


MAX_WAITING = 32
"""Requests that may wait for a change at once: half of the connections of the address."""

RETRY_AFTER_SECONDS = 5

NO_CACHE = "no-cache"
"""Caches may keep an answer, but revalidate it before each use."""


class Request(Protocol):
    """The parameters of a request. *wait*: seconds to wait for a change."""

    @property
    def wait(self) -> int:
        """The seconds of ``?wait=`` for which the answer may be held back; 0 answers at once."""
        ...


V = TypeVar("V")
R = TypeVar("R", bound=Request)


class ServedDocument(Struct, Generic[V, R], frozen=True):
    """
    The functions that make the answer of a view, and the paths at which it is served.

    *parse* returns what was asked for, or what is wrong with it. *find_missing* returns the answer for
    what is certainly not there, *find_unavailable* for a process that cannot answer.
    """

    paths: tuple[str, ...]
    parse: Callable[[Mapping[str, str], Mapping[str, str]], R | StatusError]
    find_missing: Callable[[V, R], StatusError | None]
    revision_of: Callable[[V, R], int]
    render: Callable[[V, R], Generator[bytes, None, None]]
    find_unavailable: Callable[[V], StatusError | None] = lambda _: None


REPORTER_DOCUMENT = ServedDocument(
    (
        "/status/v1",
        "/status/v1/namespaces/{namespace}",
        "/status/v1/namespaces/{namespace}/{name:.+}",
    ),
    status_v1.parse_request,
    status_v1.find_missing,
    status_v1.revision_of,
    status_v1.render,
)


class StatusV1(Generic[V, R]):
    """
    Answers requests for the status as JSON.

    *view* returns what is shown at this moment, *next_change* waits until that changes.

    *process* identifies this process in tags: another one counts revisions of its own.
    """

    def __init__(
        self,
        document: ServedDocument[V, R],
        view: Callable[[], V],
        next_change: Callable[[], Awaitable[None]],
        *,
        process: str,
    ) -> None:
        self._document = document
        self._view, self._next_change, self._process = view, next_change, process
        self._waiting = 0

    def routes(self) -> Mapping[str, Handler]:
        """Return the handler by the template of its path, for the server to add."""
        return dict.fromkeys(self._document.paths, self.show)

    async def show(self, request: RoutedRequest) -> StreamResponse:
        """
        Answer a request with the document in parts.

        304 if its If-None-Match still names the content; with ``?wait=`` only after that time without a
        change. 400 for a query that is refused, 404 for a subject that is certainly not there, 429 if
        MAX_WAITING requests wait already, and 503 while this process cannot answer.
        """
        wanted = self._document.parse(request.match_info, request.query)
        if isinstance(wanted, StatusError):
            return error_response(400, wanted)
        if wanted.wait and self._is_unchanged(request, wanted):
            if self._waiting >= MAX_WAITING:
                retry: Mapping[str, str] = {hdrs.RETRY_AFTER: str(RETRY_AFTER_SECONDS)}
                return error_response(429, too_many_waiting(MAX_WAITING), retry)
            await self._wait(request, wanted)
        view = self._view()
        unavailable = self._document.find_unavailable(view)
        if unavailable is not None:
            return error_response(503, unavailable)
        missing = self._document.find_missing(view, wanted)
        if missing is not None:
            return error_response(404, missing)
        if self._is_unchanged(request, wanted):
            unchanged = Response(status=304, headers={hdrs.CACHE_CONTROL: NO_CACHE})
            unchanged.etag = self._etag(view, wanted)
            return unchanged
        headers = {hdrs.CONTENT_TYPE: JSON, hdrs.CACHE_CONTROL: NO_CACHE}
        response = StreamResponse(headers=headers)
        response.etag = self._etag(view, wanted)
        return await send_parts(request, response, self._document.render(view, wanted))

    async def _wait(self, request: RoutedRequest, wanted: R) -> None:
        """Wait until the answer would be another one, or for as long as was asked for."""
        self._waiting += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(wanted.wait):
                    while self._is_unchanged(request, wanted):
                        await self._next_change()
        finally:
            self._waiting -= 1

    def _is_unchanged(self, request: RoutedRequest, wanted: R) -> bool:
        view = self._view()
        document = self._document
        if document.find_unavailable(view) or document.find_missing(view, wanted) is not None:
            return False
        known = request.if_none_match or ()
        return any(each.value in {"*", self._etag(view, wanted).value} for each in known)

    def _etag(self, view: V, wanted: R) -> ETag:
        # Weak: ages in the answer change without its content (RFC 9110, 8.8.1).
        return ETag(f"{self._process}-{self._document.revision_of(view, wanted)}", is_weak=True)
