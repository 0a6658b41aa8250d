"""Send instant queries over HTTP."""

from datetime import timedelta
from http import HTTPStatus

import aiohttp

from reporter.hub.query.credentials import CannotRead, QueryCredentials
from reporter.hub.query.decoding import QueryFailed, decode
from reporter.kube.client.connections import user_agent
from reporter.kube.wire.api_status import parse_retry_after
from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS
from reporter.kube.wire.plain_text import clean
from reporter.model.fleet.enums import QueryResult
from reporter.settings.groups.hub import QUERY_PATH


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
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "User-Agent": user_agent(),
                "Accept": "application/json",
                # What is read is limited in bytes, which a compressed answer would get around.
                "Accept-Encoding": "identity",
            },
        )

    async def close(self) -> None:
        await self._session.close()

    async def ask(
        self, query: str, *, time_limit: timedelta, at: float | None = None, limit: int = 0
    ) -> bytes:
        """
        Return the body of the answer to one query. Raises QueryFailed.

        *at*: Unix time at which to evaluate; None: now, by the engine's clock. *limit*: of series.
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
                    return await self._read(response)
                raise await _failure(response)
        except CannotRead as err:
            raise QueryFailed(QueryResult.REFUSED, str(err)) from err
        except TRANSPORT_ERRORS as err:
            why = "no answer in time" if isinstance(err, TimeoutError) else clean(str(err))
            why = why or type(err).__name__
            raise QueryFailed(QueryResult.UNREACHABLE, f"no answer: {why}") from err

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > self._max_bytes:
                why = f"the answer has more than {self._max_bytes} bytes"
                raise QueryFailed(QueryResult.TOO_LARGE, why)
        return bytes(body)


async def _failure(response: aiohttp.ClientResponse) -> QueryFailed:
    """Return why a status is no answer, with what the engine says of it."""
    body = b""
    while len(body) < MAX_ERROR_BYTES and not response.content.at_eof():
        body += await response.content.read(MAX_ERROR_BYTES)
    result = _result_of(response.status)
    retry_after = parse_retry_after(response.headers, None)
    return QueryFailed(
        result,
        f"HTTP {response.status}: {_why(body)}",
        retry_after=retry_after.total_seconds() if retry_after is not None else None,
    )


def _result_of(status: int) -> QueryResult:
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return QueryResult.THROTTLED
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return QueryResult.FAILED
    return QueryResult.REFUSED


def _why(body: bytes) -> str:
    """Return the error of a query API, or else the text of whoever answered."""
    try:
        decode(body)
    except QueryFailed as err:
        return str(err) if err.result is QueryResult.FAILED else clean(body)
    return ""
