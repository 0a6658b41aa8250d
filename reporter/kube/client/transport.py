"""
One request through the client library, with our credentials and our time limits.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode

import aiohttp

from reporter.kube.auth.credentials import Credentials
from reporter.kube.auth.login import RestConfig
from reporter.kube.client.connections import Connections, user_agent
from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS, RequestInfo, transport_error
from reporter.kube.wire.errors import ConfigurationError, Refused
from reporter.kube.wire.times import parse_http_date


class DateCallback(Protocol):
    """
    Told the Date of each answer; *sent* and *received* in seconds of the event loop.
    """

    def __call__(self, date: datetime, *, sent: float, received: float) -> None: ...


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """
    *body* is what JSON decodes to; *beginning* is how long the answer may take to begin.
    """

    headers: Mapping[str, str]
    body: Any
    timeout: aiohttp.ClientTimeout
    header_timeout: timedelta


class Transport:
    """
    Raises KubeError when there is no answer at all; judges no answer but 401.
    """

    def __init__(
        self, credentials: Credentials, connections: Connections, *, on_date: DateCallback
    ) -> None:
        self._credentials = credentials
        self._connections = connections
        self._on_date = on_date
        self._agent = user_agent()
        self._server_date: tuple[datetime, float] | None = None

    @asynccontextmanager
    async def send(self, asked: RequestInfo, request: RequestOptions) -> AsyncIterator[Any]:
        """
        The response of aiohttp, its body unread. A 401 is tried again if there is another login.
        """
        async with AsyncExitStack() as stack:
            login, response = await self._send_once(stack, asked, request)
            unauthorized = response.status == HTTPStatus.UNAUTHORIZED
            if unauthorized and await self._credentials.renew(login):
                response.close()
                _, response = await self._send_once(stack, asked, request)
            yield response

    async def close(self) -> None:
        await self._connections.close()

    async def _send_once(
        self, stack: AsyncExitStack, asked: RequestInfo, request: RequestOptions
    ) -> tuple[RestConfig, Any]:
        now = asyncio.get_running_loop().time
        login = await self._current_config(asked, now())
        client = await stack.enter_async_context(self._connections.use(login))
        url = client.configuration.host + asked.path
        sent = now()
        try:
            async with asyncio.timeout(request.header_timeout.total_seconds()):
                answer = await client.call_api(
                    asked.method,
                    f"{url}?{urlencode(asked.query)}" if asked.query else url,
                    header_params=self._headers(login, request),
                    body=request.body,
                    _request_timeout=request.timeout,
                )
        except TRANSPORT_ERRORS as err:
            failed = transport_error(asked, err)
        else:
            stack.callback(answer.response.close)
            self._record_date(answer.headers.get("Date", ""), sent=sent, received=now())
            return login, answer.response
        # Raised here it has no cause and no context, which would keep the buffers of a failed
        # TLS handshake (256 KiB) for as long as it is kept itself, and until a late collection.
        raise failed

    async def _current_config(self, asked: RequestInfo, now: float) -> RestConfig:
        server_time = None
        if self._server_date is not None:
            server_time = self._server_date[0] + timedelta(seconds=now - self._server_date[1])
        try:
            return await self._credentials.current_config(server_time=server_time)
        except ConfigurationError as err:
            raise Refused(asked.operation, message=str(err)) from err

    def _headers(self, login: RestConfig, request: RequestOptions) -> dict[str, str]:
        """
        Uncompressed answers: inside a cluster, compressing costs both sides more than it saves.
        """
        headers = {"User-Agent": self._agent, "Accept-Encoding": "identity", **request.headers}
        return headers | ({"Authorization": login.authorization} if login.authorization else {})

    def _record_date(self, text: str, *, sent: float, received: float) -> None:
        date = parse_http_date(text)
        if date is not None:
            self._server_date = (date, received)
            self._on_date(date, sent=sent, received=received)
