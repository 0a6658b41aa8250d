"""
Answer requests for ``/status/v1``: conditional ones, and those that wait for a change.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from aiohttp import ETag, hdrs, web

from reporter.model.rollup.status import StatusError
from reporter.runtime.http.server import JSON, send_parts
from reporter.sinks.status_v1 import (
    StatusRequest,
    encode,
    find_missing,
    parse_request,
    render,
    revision_of,
    too_many_waiting,
)
from reporter.stages.rollup.document import StatusView


MAX_WAITING = 32
"""
Requests that may wait for a change at once: half of the connections of the address.
"""

RETRY_AFTER_SECONDS = 5

NO_CACHE = "no-cache"
"""
Caches may keep an answer, but revalidate it before each use.
"""


class StatusV1:
    """
    *view* returns the roll-up of this moment, *next_change* waits until it changes.

    *process* identifies this process in tags: another one counts revisions of its own.
    """

    def __init__(
        self,
        view: Callable[[], StatusView],
        next_change: Callable[[], Awaitable[None]],
        *,
        process: str,
    ) -> None:
        self._view, self._next_change, self._process = view, next_change, process
        self._waiting = 0

    def routes(self) -> Mapping[str, Callable[[web.Request], Awaitable[web.StreamResponse]]]:
        return {
            "/status/v1": self.show,
            "/status/v1/namespaces/{namespace}": self.show,
            "/status/v1/namespaces/{namespace}/{name}": self.show,
        }

    async def show(self, request: web.Request) -> web.StreamResponse:
        wanted = parse_request(request.match_info, request.query)
        if isinstance(wanted, StatusError):
            return _error_response(400, wanted)
        if wanted.wait and self._is_unchanged(request, wanted):
            if self._waiting >= MAX_WAITING:
                retry: Mapping[str, str] = {hdrs.RETRY_AFTER: str(RETRY_AFTER_SECONDS)}
                return _error_response(429, too_many_waiting(MAX_WAITING), retry)
            await self._wait(request, wanted)
        view = self._view()
        missing = find_missing(view, wanted)
        if missing is not None:
            return _error_response(404, missing)
        if self._is_unchanged(request, wanted):
            unchanged = web.Response(status=304, headers={hdrs.CACHE_CONTROL: NO_CACHE})
            unchanged.etag = self._etag(view, wanted)
            return unchanged
        headers = {hdrs.CONTENT_TYPE: JSON, hdrs.CACHE_CONTROL: NO_CACHE}
        response = web.StreamResponse(headers=headers)
        response.etag = self._etag(view, wanted)
        return await send_parts(request, response, render(view, wanted))

    async def _wait(self, request: web.Request, wanted: StatusRequest) -> None:
        """
        Wait until the answer would be another one, or for as long as was asked for.
        """
        self._waiting += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(wanted.wait):
                    while self._is_unchanged(request, wanted):
                        await self._next_change()
        finally:
            self._waiting -= 1

    def _is_unchanged(self, request: web.Request, wanted: StatusRequest) -> bool:
        view = self._view()
        if find_missing(view, wanted) is not None:
            return False
        known = request.if_none_match or ()
        return any(each.value in {"*", self._etag(view, wanted).value} for each in known)

    def _etag(self, view: StatusView, wanted: StatusRequest) -> ETag:
        # Weak: ages in the answer change without its content (RFC 9110, 8.8.1).
        return ETag(f"{self._process}-{revision_of(view, wanted)}", is_weak=True)


def _error_response(
    status: int, error: StatusError, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        status=status, body=encode(error), headers={hdrs.CONTENT_TYPE: JSON, **(headers or {})}
    )
