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

from reporter.kube.connections import Connections
from reporter.kube.credentials import USUAL, Credentials, Freshness
from reporter.kube.errors import Unreachable
from reporter.kube.lines import Lines
from reporter.kube.logins import SERVICE_ACCOUNT, Load, choose, from_kubeconfig, from_pod
from reporter.kube.paths import Query
from reporter.kube.translation import (
    TRANSPORT_FAILURES,
    Asked,
    failure,
    is_page,
    no_answer,
    of_a_stranger,
)
from reporter.kube.transport import OnDate, Request, Transport


JSON = "application/json"
CONNECTING = timedelta(seconds=5)
BEGINNING = timedelta(seconds=30)
"""
How long a stream may take to begin; a busy server queues it.
"""

ENOUGH = 2**16
"""
Bytes of an error's body that are read.
"""

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answer:
    """
    A success, or 304. Names of headers are case-insensitive.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Api:
    """
    Every failure is a KubeError. *inside*: whether it is spoken to from a pod of its cluster.
    """

    def __init__(self, transport: Transport, *, inside: bool = False) -> None:
        self._transport = transport
        self.inside = inside

    async def call(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: timedelta = timedelta(seconds=10),  # noqa: ASYNC109
        largest: int | None = None,
        doing: str = "",
    ) -> Answer:
        """
        One request, tried once more with other credentials after a 401. *body* is JSON.

        *largest*: bytes of an answer that are too many, where those are not the API server's own.
        """
        asked = Asked(doing or f"{method.lower()} {path}", method, path, query)
        request = Request(
            headers={"Accept": accept, "Content-Type": content_type, **headers},
            body=None if body is None else msgspec.json.decode(body),
            timeout=_in_all(timeout),
            beginning=timeout,
        )
        async with self._transport.answered(asked, request) as response:
            return _checked(asked, response, await _whole(asked, response, largest))

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        query: Query,
        *,
        silence: timedelta,
        longest: timedelta | None = None,
        doing: str = "",
    ) -> AsyncIterator[Lines]:
        """
        The lines of a watch. They end, without an error, after *silence* without any, or *longest*.
        """
        asked = Asked(doing or f"watch {path}", "GET", path, query)
        timeout = aiohttp.ClientTimeout(
            total=None if longest is None else longest.total_seconds(),
            sock_connect=CONNECTING.total_seconds(),
            sock_read=silence.total_seconds(),
        )
        request = Request({"Accept": JSON}, None, timeout, beginning=min(BEGINNING, silence))
        async with self._opened(asked, request) as response:
            yield Lines(asked, response)

    @asynccontextmanager
    async def pieces(
        self, path: str, query: Query, *, within: timedelta, doing: str = ""
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """
        A long answer as it comes, *within* so much time in all.
        """
        asked = Asked(doing or f"get {path}", "GET", path, query)
        request = Request({"Accept": JSON}, None, _in_all(within), beginning=within)
        async with self._opened(asked, request) as response:
            yield _pieces(asked, response)

    @asynccontextmanager
    async def _opened(self, asked: Asked, request: Request) -> AsyncIterator[Any]:
        """
        A success of which nothing was read.
        """
        async with self._transport.answered(asked, request) as response:
            if response.status != HTTPStatus.OK or is_page(response.headers):
                _checked(asked, response, await _beginning_of(response))
            yield response

    async def close(self) -> None:
        await self._transport.close()


def _in_all(within: timedelta) -> aiohttp.ClientTimeout:
    total = within.total_seconds()
    return aiohttp.ClientTimeout(total=total, sock_connect=min(CONNECTING.total_seconds(), total))


def _checked(asked: Asked, response: Any, body: bytes) -> Answer:
    success = HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES
    if success and is_page(response.headers):
        raise of_a_stranger(asked, response.status, response.headers, body)
    if not success and response.status != HTTPStatus.NOT_MODIFIED:
        raise failure(asked, response.status, response.headers, body)
    return Answer(response.status, response.headers, body)


async def _whole(asked: Asked, response: Any, largest: int | None) -> bytes:
    body = bytearray()
    async for piece in _pieces(asked, response):
        body += piece
        if largest is not None and len(body) > largest:
            text = f"the answer has more than {largest} bytes"
            raise Unreachable(asked.doing, status=response.status, message=text, arrived=True)
    return bytes(body)


async def _pieces(asked: Asked, response: Any) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except TRANSPORT_FAILURES as err:
        raise no_answer(asked, err) from err


async def _beginning_of(response: Any) -> bytes:
    """
    What is there of an error's body, without waiting long for its end.
    """
    read = b""
    try:
        async with asyncio.timeout(CONNECTING.total_seconds()):
            while len(read) < ENOUGH and not response.content.at_eof():
                read += await response.content.read(ENOUGH)
    except TRANSPORT_FAILURES:
        pass
    return read


def unheard(date: datetime, *, sent: float, received: float) -> None:
    """
    For those who need no server time.
    """


async def connect(
    kubeconfig: str | None = None,
    *,
    on_date: OnDate = unheard,
    environ: Mapping[str, str] = os.environ,
    account: Path = SERVICE_ACCOUNT,
    freshness: Freshness = USUAL,
) -> Api:
    """
    Read the credentials; speaks to nobody yet. Raises ConfigurationError with what to do.

    *account* is the folder of a pod's own credentials.
    """
    paths = choose(kubeconfig, environ, Path.home())
    load: Load = (
        partial(from_pod, environ, folder=account)
        if paths is None
        else partial(from_kubeconfig, paths, environ)
    )
    login = await load()
    credentials = Credentials(load, login, freshness)
    connections = Connections(login, every=freshness.reread)
    transport = Transport(credentials, connections, on_date=on_date)
    return Api(transport, inside=paths is None)
