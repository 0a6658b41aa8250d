"""The REST client: requests to the API server, with raw responses."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp

from reporter.kube import error_mapping
from reporter.kube.api_status import decode_status
from reporter.kube.connections import Connections
from reporter.kube.credentials import DEFAULT_REFRESH_POLICY, Credentials, RefreshPolicy
from reporter.kube.decoding import Json
from reporter.kube.error_mapping import TRANSPORT_ERRORS, RequestInfo, transport_error
from reporter.kube.errors import Refused, Unreachable
from reporter.kube.paths import Query
from reporter.kube.response_body import BodyTooLargeError, read_body
from reporter.kube.rest_config import SERVICE_ACCOUNT_DIR, choose_loader
from reporter.kube.transport import CountRequest, RequestOptions, Transport
from reporter.process.clock import Clock


JSON_CONTENT_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"
CONNECT_TIMEOUT = timedelta(seconds=5)
STREAM_START_TIMEOUT = timedelta(seconds=30)
"""Time that a watch may take to send its headers; a busy server queues requests."""

MAX_ERROR_BODY_BYTES = 2**16
"""Bytes that are read of the body of an error."""

MAX_LINE_BYTES = 64 << 20
"""
Far above the size of any object in etcd, as the server escapes some characters with six bytes.
"""

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A response with a status of success, or 304. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class WatchStream:
    """
    Iterates over the lines until the server ends the stream or the idle timeout passes.

    *idle_timed_out*: the idle timeout ended it; the peer may be dead, or have nothing to send.
    """

    def __init__(self, request: RequestInfo, response: Any) -> None:
        self._request = request
        self._response = response
        self.idle_timed_out = False

    def __aiter__(self) -> "WatchStream":
        return self

    async def __anext__(self) -> bytes:
        line = await self._read_line()
        if not line:
            raise StopAsyncIteration
        if not line.endswith(b"\n"):
            raise Unreachable(
                self._request.operation, message="the stream was cut off in the middle of a line"
            )
        return line

    async def _read_line(self) -> bytes:
        try:
            read: bytes = await self._response.content.readline(max_line_length=MAX_LINE_BYTES)
        except aiohttp.SocketTimeoutError:
            self.idle_timed_out = True
            return b""
        except TimeoutError:
            return b""
        except TRANSPORT_ERRORS as err:
            raise transport_error(self._request, err) from err
        return read


class RestClient:
    """
    Sends requests and raises a KubeError for each failure.

    *in_cluster*: whether this process runs in a pod of the cluster. *target*: the server and the
    context of the kubeconfig, for people. *request_timeout*: of every request
    that ends by itself and that a pod does not answer, in place of its own.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        in_cluster: bool = False,
        target: str = "",
        request_timeout: timedelta | None = None,
    ) -> None:
        self._transport, self._request_timeout = transport, request_timeout
        self.in_cluster, self.target = in_cluster, target
        self._on_forbidden: Callable[[str], None] = lambda permission: None

    def on_forbidden(self, listener: Callable[[str], None]) -> None:
        """
        Call *listener* with the permission that a request lacked, as "list deployments.apps".

        It is not called for what a pod answers, nor for a refusal that is not about permissions.
        """
        self._on_forbidden = listener

    def on_request(self, listener: CountRequest) -> None:
        """Call *listener* after each request, also of those whose response a pod determines."""
        self._transport.count_request = listener

    @contextmanager
    def _reporting_forbidden(self, options: RequestOptions) -> Iterator[None]:
        try:
            yield
        except Refused as err:
            if err.missing_permission and not options.from_pod:
                self._on_forbidden(err.missing_permission)
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
            timeout=_total_timeout(timeout),
            header_timeout=timeout,
            from_pod=from_pod,
        )
        async with self._transport.send(request, options) as response:
            body_read = await _read_body(request, response, max_bytes)
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
    ) -> AsyncIterator[WatchStream]:
        """
        Open a watch. It ends without an error after *idle_timeout* without a line or *max_duration*.
        """
        request = error_mapping.RequestInfo(operation or f"watch {path}", "GET", path, query)
        timeout = aiohttp.ClientTimeout(
            total=None if max_duration is None else max_duration.total_seconds(),
            sock_connect=CONNECT_TIMEOUT.total_seconds(),
            sock_read=idle_timeout.total_seconds(),
        )
        options = RequestOptions(
            {"Accept": JSON_CONTENT_TYPE},
            None,
            timeout,
            header_timeout=min(STREAM_START_TIMEOUT, idle_timeout),
        )
        async with self._open_stream(request, options) as response:
            yield WatchStream(request, response)

    @asynccontextmanager
    async def stream_body(
        self, path: str, query: Query, *, time_limit: timedelta, operation: str = ""
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Stream a long body as it arrives. *time_limit*: for the whole response."""
        time_limit = self._request_timeout or time_limit
        request = error_mapping.RequestInfo(operation or f"get {path}", "GET", path, query)
        options = RequestOptions(
            {"Accept": JSON_CONTENT_TYPE},
            None,
            _total_timeout(time_limit),
            header_timeout=time_limit,
        )
        async with self._open_stream(request, options) as response:
            yield _iter_body(request, response)

    @asynccontextmanager
    async def _open_stream(
        self, request: error_mapping.RequestInfo, options: RequestOptions
    ) -> AsyncIterator[Any]:
        """Send a request and yield the response with its body unread, if the status is 200."""
        async with self._transport.send(request, options) as response:
            if response.status != HTTPStatus.OK or error_mapping.is_html(response.headers):
                body = await _read_error_body(response)
                with self._reporting_forbidden(options):
                    _check_response(request, response, body)
            yield response

    async def close(self) -> None:
        """Cancel a renewal of the credentials, and close all connections. No request may follow."""
        await self._transport.close()


def _total_timeout(timeout: timedelta) -> aiohttp.ClientTimeout:
    total = timeout.total_seconds()
    return aiohttp.ClientTimeout(
        total=total, sock_connect=min(CONNECT_TIMEOUT.total_seconds(), total)
    )


def _check_response(request: error_mapping.RequestInfo, response: Any, body: bytes) -> ApiResponse:
    success = HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES
    if success and error_mapping.is_html(response.headers):
        raise error_mapping.proxy_error(request, response.status, response.headers, body)
    if not success and response.status != HTTPStatus.NOT_MODIFIED:
        raise error_mapping.response_error(request, response.status, response.headers, body)
    return ApiResponse(response.status, response.headers, body)


async def _read_body(
    request: error_mapping.RequestInfo, response: Any, max_bytes: int | None
) -> bytes:
    try:
        return await read_body(response, max_bytes)
    except BodyTooLargeError as err:
        text = f"the response has {err}"
        raise Unreachable(
            request.operation, status=response.status, message=text, may_have_applied=True
        ) from err
    except error_mapping.TRANSPORT_ERRORS as err:
        raise error_mapping.transport_error(request, err) from err


async def _iter_body(request: error_mapping.RequestInfo, response: Any) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except error_mapping.TRANSPORT_ERRORS as err:
        raise error_mapping.transport_error(request, err) from err


async def _read_error_body(response: Any) -> bytes:
    """Read the beginning of an error's body, without waiting long for the rest."""
    read = b""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT.total_seconds()):
            while len(read) < MAX_ERROR_BODY_BYTES and not response.content.at_eof():
                read += await response.content.read(MAX_ERROR_BODY_BYTES)
    except error_mapping.TRANSPORT_ERRORS:
        pass
    return read


async def connect(  # noqa: PLR0913
    kubeconfig: str | None = None,
    *,
    context: str = "",
    impersonated: str = "",
    request_timeout: timedelta | None = None,
    clock: Clock | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account_dir: Path = SERVICE_ACCOUNT_DIR,
    refresh_policy: RefreshPolicy = DEFAULT_REFRESH_POLICY,
) -> RestClient:
    """
    Load the credentials and make a client; no request is sent yet.

    *context*: of the kubeconfig; empty: its current one. *impersonated*: the user to act as.
    *request_timeout*: of requests that end by themselves. *clock*: is corrected by the answers.
    *service_account_dir*: the mounted credentials of the pod. Raises ConfigurationError.
    """
    load, in_cluster = choose_loader(
        kubeconfig, environ, context=context, service_account_dir=service_account_dir
    )
    config = await load()
    credentials = Credentials(load, config, refresh_policy)
    connections = Connections(config, check_interval=refresh_policy.token_reload_interval)
    transport = Transport(credentials, connections, clock, impersonated=impersonated)
    return RestClient(
        transport, in_cluster=in_cluster, target=config.target, request_timeout=request_timeout
    )
