"""The REST client: requests to the API server, with raw responses."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from reporter.kube import error_mapping
from reporter.kube.api_status import decode_status
from reporter.kube.decoding import Json
from reporter.kube.errors import Refused
from reporter.kube.paths import Query
from reporter.kube.request_options import RequestOptions
from reporter.process.subscribers import Subscribers


if TYPE_CHECKING:
    # They import aiohttp, which whoever only names a client does not need.
    from reporter.kube.received_response import ReceivedResponse, WatchStream
    from reporter.kube.transport import Transport


JSON_CONTENT_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STREAM_START_TIMEOUT = timedelta(seconds=30)
"""Time that a watch may take to send its headers; a busy server queues requests."""

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class ApiResponse(Struct, frozen=True):
    """A response with a status of success, or 304. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        """Return a text without the body, which may hold a secret."""
        return f"ApiResponse(status={self.status})"


class RestClient:
    """
    Sends requests and raises a KubeError for each failure.

    *in_cluster*: whether this process runs in a pod of the cluster. *target*: the server and the
    context of the kubeconfig, for people. *request_timeout*: replaces the timeout of each request,
    except of watches and of requests that a pod answers.

    *requests*: notified of the verb of each request, and of the status of its response, None without one;
    also of requests that a pod answers.
    *forbidden*: notified of each permission that a request lacked, a text such as "list deployments.apps",
    but not of what a pod answers, nor of a refusal that is not about permissions.
    """

    def __init__(
        self,
        transport: "Transport",
        *,
        in_cluster: bool = False,
        target: str = "",
        request_timeout: timedelta | None = None,
    ) -> None:
        self._transport, self._request_timeout = transport, request_timeout
        self.in_cluster, self.target = in_cluster, target
        self.requests = transport.requests
        self.forbidden: Subscribers[str] = Subscribers()

    @contextmanager
    def _reporting_forbidden(self, options: RequestOptions) -> Iterator[None]:
        try:
            yield
        except Refused as err:
            if err.missing_permission and not options.from_pod:
                self.forbidden.notify(err.missing_permission)
            raise

    async def call(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Json | None = None,
        content_type: str = JSON_CONTENT_TYPE,
        accept: str = JSON_CONTENT_TYPE,
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: timedelta = timedelta(seconds=10),  # noqa: ASYNC109
        max_bytes: int | None = None,
        from_pod: bool = False,
        expected: Collection[int] = (),
        operation: str = "",
    ) -> ApiResponse:
        """
        Send one request, and once more with renewed credentials after a 401.

        *max_bytes*: the largest body that is accepted. *from_pod*: a pod determines the response.
        *expected*: further statuses that are answers, unless the API server itself sent them.
        """
        if self._request_timeout is not None and not from_pod:
            timeout = self._request_timeout
        request = error_mapping.RequestInfo(
            operation or f"{method.lower()} {path}", method, path, query
        )
        options = RequestOptions(
            headers={"Accept": accept, "Content-Type": content_type, **headers},
            body=body,
            time_limit=timeout,
            header_timeout=timeout,
            from_pod=from_pod,
        )
        async with self._transport.send(request, options) as response:
            body_read = await response.read(max_bytes)
            if response.status in expected and decode_status(body_read) is None:
                return ApiResponse(response.status, response.headers, body_read)
            with self._reporting_forbidden(options):
                return _check_response(request, response, body_read)

    @asynccontextmanager
    async def open_watch(
        self,
        path: str,
        query: Query,
        *,
        idle_timeout: timedelta,
        max_duration: timedelta | None = None,
        operation: str = "",
    ) -> AsyncIterator["WatchStream"]:
        """
        Open a watch. It ends without an error after *idle_timeout* without a line or *max_duration*.
        """
        request = error_mapping.RequestInfo(operation or f"watch {path}", "GET", path, query)
        options = RequestOptions(
            {"Accept": JSON_CONTENT_TYPE},
            None,
            max_duration,
            header_timeout=min(STREAM_START_TIMEOUT, idle_timeout),
            idle_timeout=idle_timeout,
        )
        async with self._open_stream(request, options) as response:
            yield response.lines()

    @asynccontextmanager
    async def stream_body(
        self,
        path: str,
        query: Query,
        *,
        time_limit: timedelta,
        operation: str = "",
        keeps_connection: bool = True,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """
        Stream a long body as it arrives. *time_limit*: for all of it.

        Without *keeps_connection* no later request is sent over the same connection: it keeps buffers of TLS
        as large as it ever needed.
        """
        time_limit = self._request_timeout or time_limit
        request = error_mapping.RequestInfo(operation or f"get {path}", "GET", path, query)
        headers = {"Accept": JSON_CONTENT_TYPE}
        options = RequestOptions(
            headers if keeps_connection else headers | {"Connection": "close"},
            None,
            time_limit,
            header_timeout=time_limit,
        )
        async with self._open_stream(request, options) as response:
            yield response.chunks()

    @asynccontextmanager
    async def _open_stream(
        self, request: error_mapping.RequestInfo, options: RequestOptions
    ) -> AsyncIterator["ReceivedResponse"]:
        """Send a request and yield the response with its body unread, if the status is 200."""
        async with self._transport.send(request, options) as response:
            if response.status != HTTPStatus.OK or error_mapping.is_html(response.headers):
                body = await response.read_beginning()
                with self._reporting_forbidden(options):
                    _check_response(request, response, body)
            yield response

    async def close(self) -> None:
        """Cancel a renewal of the credentials, and close all connections. No request may follow."""
        await self._transport.close()


def _check_response(
    request: error_mapping.RequestInfo, response: "ReceivedResponse", body: bytes
) -> ApiResponse:
    success = HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES
    if success and error_mapping.is_html(response.headers):
        raise error_mapping.proxy_error(request, response.status, response.headers, body)
    if not success and response.status != HTTPStatus.NOT_MODIFIED:
        raise error_mapping.response_error(request, response.status, response.headers, body)
    return ApiResponse(response.status, response.headers, body)
