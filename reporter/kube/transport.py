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

from reporter.kube.connections import Connections, user_agent
from reporter.kube.credentials import Credentials
from reporter.kube.errors import ConfigurationError, Refused
from reporter.kube.logins import Login
from reporter.kube.translation import TRANSPORT_FAILURES, Asked, no_answer
from reporter.kube.wire_time import http_date


class OnDate(Protocol):
    """
    Told the Date of each answer; *sent* and *received* in seconds of the event loop.
    """

    def __call__(self, date: datetime, *, sent: float, received: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """
    *body* is what JSON decodes to; *beginning* is how long the answer may take to begin.
    """

    headers: Mapping[str, str]
    body: Any
    timeout: aiohttp.ClientTimeout
    beginning: timedelta


class Transport:
    """
    Raises KubeError when there is no answer at all; judges no answer but 401.
    """

    def __init__(
        self, credentials: Credentials, connections: Connections, *, on_date: OnDate
    ) -> None:
        self._credentials = credentials
        self._connections = connections
        self._on_date = on_date
        self._agent = user_agent()
        self._dated: tuple[datetime, float] | None = None

    @asynccontextmanager
    async def answered(self, asked: Asked, request: Request) -> AsyncIterator[Any]:
        """
        The response of aiohttp, its body unread. A 401 is tried again if there is another login.
        """
        async with AsyncExitStack() as stack:
            login, response = await self._send(stack, asked, request)
            unauthorized = response.status == HTTPStatus.UNAUTHORIZED
            if unauthorized and await self._credentials.renew(login):
                response.close()
                _, response = await self._send(stack, asked, request)
            yield response

    async def close(self) -> None:
        await self._connections.close()

    async def _send(
        self, stack: AsyncExitStack, asked: Asked, request: Request
    ) -> tuple[Login, Any]:
        now = asyncio.get_running_loop().time
        login = await self._login(asked, now())
        client = await stack.enter_async_context(self._connections.use(login))
        url = client.configuration.host + asked.path
        sent = now()
        try:
            async with asyncio.timeout(request.beginning.total_seconds()):
                answer = await client.call_api(
                    asked.method,
                    f"{url}?{urlencode(asked.query)}" if asked.query else url,
                    header_params=self._headers(login, request),
                    body=request.body,
                    _request_timeout=request.timeout,
                )
        except TRANSPORT_FAILURES as err:
            failed = no_answer(asked, err)
        else:
            stack.callback(answer.response.close)
            self._date(answer.headers.get("Date", ""), sent=sent, received=now())
            return login, answer.response
        # Raised here it has no cause and no context, which would keep the buffers of a failed
        # TLS handshake (256 KiB) for as long as it is kept itself, and until a late collection.
        raise failed

    async def _login(self, asked: Asked, now: float) -> Login:
        server_time = None
        if self._dated is not None:
            server_time = self._dated[0] + timedelta(seconds=now - self._dated[1])
        try:
            return await self._credentials.login(server_time=server_time)
        except ConfigurationError as err:
            raise Refused(asked.doing, message=str(err)) from err

    def _headers(self, login: Login, request: Request) -> dict[str, str]:
        """
        Uncompressed answers: inside a cluster, compressing costs both sides more than it saves.
        """
        headers = {"User-Agent": self._agent, "Accept-Encoding": "identity", **request.headers}
        return headers | ({"Authorization": login.authorization} if login.authorization else {})

    def _date(self, text: str, *, sent: float, received: float) -> None:
        date = http_date(text)
        if date is not None:
            self._dated = (date, received)
            self._on_date(date, sent=sent, received=received)
