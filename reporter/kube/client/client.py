"""
The one way to the API server: requests with raw bytes through the client library.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import msgspec

from reporter.kube.auth.credentials import DEFAULT_REFRESH_POLICY, Credentials, RefreshPolicy
from reporter.kube.auth.login import (
    SERVICE_ACCOUNT_DIR,
    LoadConfig,
    choose_kubeconfig,
    load_in_cluster_config,
    load_kubeconfig,
)
from reporter.kube.client.connections import Connections
from reporter.kube.client.transport import DateCallback, RequestOptions, Transport
from reporter.kube.client.watch_stream import WatchStream
from reporter.kube.wire.error_mapping import (
    TRANSPORT_ERRORS,
    RequestInfo,
    is_html,
    proxy_error,
    response_error,
    transport_error,
)
from reporter.kube.wire.errors import Unreachable
from reporter.kube.wire.paths import Query


JSON_CONTENT_TYPE = "application/json"
CONNECT_TIMEOUT = timedelta(seconds=5)
STREAM_START_TIMEOUT = timedelta(seconds=30)
"""
How long a stream may take to begin; a busy server queues it.
"""

MAX_ERROR_BODY_BYTES = 2**16
"""
Bytes of an error's body that are read.
"""

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """
    A success, or 304. Names of headers are case-insensitive.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class RestClient:
    """
    Every failure is a KubeError. *inside*: whether it is spoken to from a pod of its cluster.
    """

    def __init__(self, transport: Transport, *, in_cluster: bool = False) -> None:
        self._transport = transport
        self.in_cluster = in_cluster

    async def call(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        content_type: str = JSON_CONTENT_TYPE,
        accept: str = JSON_CONTENT_TYPE,
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: timedelta = timedelta(seconds=10),  # noqa: ASYNC109
        max_bytes: int | None = None,
        operation: str = "",
    ) -> ApiResponse:
        """
        One request, tried once more with other credentials after a 401. *body* is JSON.

        *largest*: bytes of an answer that are too many, where those are not the API server's own.
        """
        asked = RequestInfo(operation or f"{method.lower()} {path}", method, path, query)
        request = RequestOptions(
            headers={"Accept": accept, "Content-Type": content_type, **headers},
            body=None if body is None else msgspec.json.decode(body),
            timeout=_total_timeout(timeout),
            header_timeout=timeout,
        )
        async with self._transport.send(asked, request) as response:
            return _check_response(asked, response, await _read_body(asked, response, max_bytes))

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
        The lines of a watch. They end, without an error, after *silence* without any, or *longest*.
        """
        asked = RequestInfo(operation or f"watch {path}", "GET", path, query)
        timeout = aiohttp.ClientTimeout(
            total=None if max_duration is None else max_duration.total_seconds(),
            sock_connect=CONNECT_TIMEOUT.total_seconds(),
            sock_read=idle_timeout.total_seconds(),
        )
        request = RequestOptions(
            {"Accept": JSON_CONTENT_TYPE},
            None,
            timeout,
            header_timeout=min(STREAM_START_TIMEOUT, idle_timeout),
        )
        async with self._open_stream(asked, request) as response:
            yield WatchStream(asked, response)

    @asynccontextmanager
    async def stream_body(
        self, path: str, query: Query, *, time_limit: timedelta, operation: str = ""
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """
        A long answer as it comes, *within* so much time in all.
        """
        asked = RequestInfo(operation or f"get {path}", "GET", path, query)
        request = RequestOptions(
            {"Accept": JSON_CONTENT_TYPE},
            None,
            _total_timeout(time_limit),
            header_timeout=time_limit,
        )
        async with self._open_stream(asked, request) as response:
            yield _iter_body(asked, response)

    @asynccontextmanager
    async def _open_stream(
        self, asked: RequestInfo, request: RequestOptions
    ) -> AsyncIterator[Any]:
        """
        A success of which nothing was read.
        """
        async with self._transport.send(asked, request) as response:
            if response.status != HTTPStatus.OK or is_html(response.headers):
                _check_response(asked, response, await _read_error_body(response))
            yield response

    async def close(self) -> None:
        await self._transport.close()


def _total_timeout(within: timedelta) -> aiohttp.ClientTimeout:
    total = within.total_seconds()
    return aiohttp.ClientTimeout(
        total=total, sock_connect=min(CONNECT_TIMEOUT.total_seconds(), total)
    )


def _check_response(asked: RequestInfo, response: Any, body: bytes) -> ApiResponse:
    success = HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES
    if success and is_html(response.headers):
        raise proxy_error(asked, response.status, response.headers, body)
    if not success and response.status != HTTPStatus.NOT_MODIFIED:
        raise response_error(asked, response.status, response.headers, body)
    return ApiResponse(response.status, response.headers, body)


async def _read_body(asked: RequestInfo, response: Any, largest: int | None) -> bytes:
    body = bytearray()
    async for piece in _iter_body(asked, response):
        body += piece
        if largest is not None and len(body) > largest:
            text = f"the answer has more than {largest} bytes"
            raise Unreachable(
                asked.operation, status=response.status, message=text, may_have_applied=True
            )
    return bytes(body)


async def _iter_body(asked: RequestInfo, response: Any) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except TRANSPORT_ERRORS as err:
        raise transport_error(asked, err) from err


async def _read_error_body(response: Any) -> bytes:
    """
    What is there of an error's body, without waiting long for its end.
    """
    read = b""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT.total_seconds()):
            while len(read) < MAX_ERROR_BODY_BYTES and not response.content.at_eof():
                read += await response.content.read(MAX_ERROR_BODY_BYTES)
    except TRANSPORT_ERRORS:
        pass
    return read


def ignore_date(date: datetime, *, sent: float, received: float) -> None:
    """
    For those who need no server time.
    """


async def connect(
    kubeconfig: str | None = None,
    *,
    on_date: DateCallback = ignore_date,
    environ: Mapping[str, str] = os.environ,
    service_account_dir: Path = SERVICE_ACCOUNT_DIR,
    refresh_policy: RefreshPolicy = DEFAULT_REFRESH_POLICY,
) -> RestClient:
    """
    Read the credentials; speaks to nobody yet. Raises ConfigurationError with what to do.

    *account* is the folder of a pod's own credentials.
    """
    paths = choose_kubeconfig(kubeconfig, environ, Path.home())
    load: LoadConfig = (
        partial(load_in_cluster_config, environ, folder=service_account_dir)
        if paths is None
        else partial(load_kubeconfig, paths, environ)
    )
    login = await load()
    credentials = Credentials(load, login, refresh_policy)
    connections = Connections(login, check_interval=refresh_policy.token_reload_interval)
    transport = Transport(credentials, connections, on_date=on_date)
    return RestClient(transport, in_cluster=paths is None)
