"""
Send instant queries over HTTP, and decode the answers (Prometheus, "HTTP API", instant queries).

Headers and TLS context are read again from their files, which may be renewed.
"""

import re
import ssl
from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import aiohttp
import msgspec
import yaml
from msgspec import Struct

from reporter.catalogue.regular_file import read_regular_file
from reporter.hub.series import Series
from reporter.kube.api_status import parse_retry_after
from reporter.kube.connections import user_agent
from reporter.kube.open_sockets import OpenSockets
from reporter.kube.plain_text import clean
from reporter.kube.response_body import BodyTooLargeError, read_body
from reporter.kube.rest_config import read_token
from reporter.kube.tls import verifying_context
from reporter.kube.transport_errors import TRANSPORT_ERRORS
from reporter.model.fleet_status import QueryResult
from reporter.settings.hub import QUERY_PATH, HubSettings


class QueryFailed(Exception):
    """
    Raised without a complete answer; the text says why.

    *retry_after*: seconds that the engine asks to wait; None if it does not.
    """

    def __init__(self, result: QueryResult, why: str, *, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.result, self.retry_after = result, retry_after


class _Data(Struct, gc=False, rename="camel"):
    result_type: str
    result: list[Series] | None = None


class _Response(Struct, gc=False, rename="camel"):
    """
    *is_partial*: of VictoriaMetrics, for an answer from which a part of its storage is missing.
    """

    status: str
    data: _Data | None = None
    error_type: str = ""
    error: str = ""
    warnings: list[Any] | None = None
    is_partial: bool = False


_DECODER = msgspec.json.Decoder(_Response)


class Vector(NamedTuple):
    """A complete instant vector. *time*: Unix time of its evaluation; None without series."""

    time: float | None
    series: list[Series]


T = TypeVar("T")


def read(body: bytes, gather: Callable[[Vector], T], *, limit: int = 0) -> T:
    """
    Return what *gather* makes of the answer. Raises QueryFailed for one that is not complete.

    *limit*: as for `decode`.
    """
    found = decode(body, limit=limit)
    try:
        return gather(found)
    except _UNREADABLE as err:
        raise _unreadable(body) from err


def decode(body: bytes, *, limit: int = 0) -> Vector:
    """
    Return the answer. Raises QueryFailed for one that is not complete.

    *limit*: the series that were asked for at most, 0 for all; an answer with as many counts as truncated.
    An engine that does not know limits sends more.
    """
    try:
        found = _DECODER.decode(body)
    except _UNREADABLE as err:
        raise _unreadable(body) from err
    if found.status != "success" or found.data is None:
        why = clean(f"{found.error_type}: {found.error}")
        raise QueryFailed(QueryResult.FAILED, f"the engine answers with an error: {why}")
    series = found.data.result or []
    if limit and len(series) >= limit:
        raise QueryFailed(QueryResult.TRUNCATED, f"there are {limit} series or more")
    if found.warnings or found.is_partial:
        first = clean(str(found.warnings[0])) if found.warnings else "a part of its storage"
        raise QueryFailed(QueryResult.PARTIAL, f"the answer is partial: {first}")
    if found.data.result_type != "vector":
        kind = clean(found.data.result_type)
        raise QueryFailed(QueryResult.UNREADABLE, f"the answer is no vector: {kind}")
    return Vector(series[0].value[0] if series else None, series)


_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def _unreadable(body: bytes) -> QueryFailed:
    shown = clean(body, max_length=100)
    return QueryFailed(QueryResult.UNREADABLE, f"not the answer of a query API: {shown}")


HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
"""The name of a header (RFC 9110, 5.6.2)."""

RESERVED = frozenset({"content-length", "content-type", "host", "transfer-encoding", "connection"})
FILE_LIMIT = 2**16


class CannotRead(Exception):
    """A file of credentials cannot be used; the text names it, and never its content."""


class QueryCredentials:
    """
    The headers and the TLS context for the metrics engine, from the files that the settings name.

    The files are read at each query, so that renewed tokens and certificates need no restart.
    """

    def __init__(self, settings: HubSettings) -> None:
        self._token_file = settings.hub_token_file
        self._headers_file = settings.hub_headers_file
        self._ca_file = settings.hub_ca_file
        self._tls: tuple[tuple[int, int], ssl.SSLContext] | None = None

    def headers(self) -> Mapping[str, str]:
        """
        Return the headers of the headers file, and Authorization with the token of the token file.

        Empty without either file. Raises CannotRead if one cannot be used, or both give Authorization.
        """
        found = dict(read_headers(self._headers_file)) if self._headers_file is not None else {}
        if self._token_file is None:
            return found
        if "authorization" in {name.lower() for name in found}:
            raise CannotRead(
                f"{self._headers_file} and the token file both give Authorization; leave one out"
            )
        token = read_token(self._token_file)
        if token is None:
            raise CannotRead(f"{self._token_file} holds no token")
        return found | {"Authorization": f"Bearer {token}"}

    def tls(self) -> ssl.SSLContext:
        """
        Return the TLS context that trusts the CA file, or the system's CAs without one.

        It is the same until the file changes. Raises CannotRead if the file holds no certificates.
        """
        try:
            if self._ca_file is None:
                version = (0, 0)
            else:
                stat = self._ca_file.stat()
                version = (stat.st_mtime_ns, stat.st_size)
            if self._tls is None or self._tls[0] != version:
                file = str(self._ca_file) if self._ca_file is not None else None
                self._tls = version, verifying_context(file)
        except (OSError, ssl.SSLError) as err:
            raise CannotRead(f"{self._ca_file} holds no certificates: {err}") from err
        return self._tls[1]


def read_headers(path: Path) -> Mapping[str, str]:
    """
    Return the HTTP headers of a YAML file with a line ``Name: value`` for each; none of an empty file.

    Raises CannotRead for a file that is unreadable, longer than FILE_LIMIT, or has a header that HTTP
    itself sets.
    """
    try:
        content = read_regular_file(path, FILE_LIMIT + 1)
        if len(content) > FILE_LIMIT:
            raise CannotRead(f"{path} has more than {FILE_LIMIT} bytes")
        found = yaml.safe_load(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as err:
        raise CannotRead(f"{path} cannot be read: {err}") from err
    except yaml.YAMLError as err:
        raise CannotRead(f"{path} is no YAML") from err
    headers = {} if found is None else found
    if not isinstance(headers, dict) or not all(_is_header(*each) for each in headers.items()):
        raise CannotRead(f"{path} must have lines such as X-Scope-OrgID: tenant")
    return {name: str(text) for name, text in headers.items()}


def _is_header(name: object, text: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(text, str | int)
        and not isinstance(text, bool)
        and re.fullmatch(HEADER_NAME, name) is not None
        and name.lower() not in RESERVED
        and str(text).isprintable()
    )


MAX_BYTES = 64 * 2**20
"""The largest answer that is read: twice that about 10,000 clusters."""

MAX_ERROR_BYTES = 2**16
CONNECT_SECONDS = 5.0


class QueryClient:
    """Asks one engine. Nothing is retried here. *url*: without the path of queries."""

    def __init__(
        self, url: str, credentials: QueryCredentials, *, max_bytes: int = MAX_BYTES
    ) -> None:
        self._url, self._credentials, self._max_bytes = url, credentials, max_bytes
        self._sockets = OpenSockets()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(socket_factory=self._sockets.open),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "User-Agent": user_agent(),
                "Accept": "application/json",
                # What is read is limited in bytes, which a compressed answer would get around.
                "Accept-Encoding": "identity",
            },
        )

    async def close(self) -> None:
        """Close the HTTP session with its connections to the engine."""
        await self._session.close()
        await self._sockets.close()

    async def ask(
        self, query: str, *, time_limit: timedelta, at: float | None = None, limit: int = 0
    ) -> bytes:
        """
        Return the body of the answer to one query. Raises QueryFailed.

        *at*: Unix time at which to evaluate; None: now, by the engine's clock. *limit*: the series to
        answer with at most; 0 for all.
        """
        form = {"query": query, "timeout": f"{time_limit.total_seconds():g}"}
        if at is not None:
            form["time"] = f"{at:.3f}"
        if limit:
            form["limit"] = str(limit)
        try:
            headers, tls = self._credentials.headers(), self._credentials.tls()
            async with self._session.post(
                self._url + QUERY_PATH,
                data=form,
                headers=headers,
                ssl=tls,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=time_limit.total_seconds(), sock_connect=CONNECT_SECONDS
                ),
            ) as response:
                if response.status == HTTPStatus.OK:
                    return await read_body(response, self._max_bytes)
                raise await _failure(response)
        except CannotRead as err:
            raise QueryFailed(QueryResult.REFUSED, str(err)) from err
        except BodyTooLargeError as err:
            raise QueryFailed(QueryResult.TOO_LARGE, f"the answer has {err}") from err
        except TRANSPORT_ERRORS as err:
            why = "no answer in time" if isinstance(err, TimeoutError) else clean(str(err))
            why = why or type(err).__name__
            raise QueryFailed(QueryResult.UNREACHABLE, f"no answer: {why}") from err


async def _failure(response: aiohttp.ClientResponse) -> QueryFailed:
    """Return why a status is no answer, with what the engine says of it."""
    body = b""
    while len(body) < MAX_ERROR_BYTES and not response.content.at_eof():
        body += await response.content.read(MAX_ERROR_BYTES)
    status, result = response.status, QueryResult.REFUSED
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        result = QueryResult.THROTTLED
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        result = QueryResult.FAILED
    retry_after = parse_retry_after(response.headers, None)
    return QueryFailed(
        result,
        f"HTTP {status}: {_why(body)}",
        retry_after=retry_after.total_seconds() if retry_after is not None else None,
    )


def _why(body: bytes) -> str:
    """Return the error of a query API, or else the text of whoever answered."""
    try:
        decode(body)
    except QueryFailed as err:
        return str(err) if err.result is QueryResult.FAILED else clean(body)
    return ""
