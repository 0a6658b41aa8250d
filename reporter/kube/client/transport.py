"""
Send one request through the client library, with our credentials and timeouts.
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
from reporter.kube.auth.rest_config import RestConfig
from reporter.kube.client.connections import Connections, user_agent
from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS, RequestInfo, transport_error
from reporter.kube.wire.errors import ConfigurationError, Refused
from reporter.kube.wire.times import parse_http_date


class DateCallback(Protocol):
    """
    Called with the Date of each response; *sent* and *received* are seconds of the event loop.
    """

    def __call__(self, date: datetime, *, sent: float, received: float) -> None: ...


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """
    *body*: decoded JSON. *header_timeout*: how long the response may take to begin.
    """

    headers: Mapping[str, str]
    body: Any
    timeout: aiohttp.ClientTimeout
    header_timeout: timedelta


class Transport:
    """
    Sends requests. Raises a KubeError without a response; of the statuses only 401 is handled here.
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
    async def send(self, request: RequestInfo, options: RequestOptions) -> AsyncIterator[Any]:
        """
        Yield aiohttp's response with its body unread; a 401 is retried with renewed credentials.
        """
        async with AsyncExitStack() as stack:
            config, response = await self._send_once(stack, request, options)
            unauthorized = response.status == HTTPStatus.UNAUTHORIZED
            if unauthorized and await self._credentials.renew(config):
                response.close()
                _, response = await self._send_once(stack, request, options)
            yield response

    async def close(self) -> None:
        await self._connections.close()

    async def _send_once(
        self, stack: AsyncExitStack, request: RequestInfo, options: RequestOptions
    ) -> tuple[RestConfig, Any]:
        now = asyncio.get_running_loop().time
        config = await self._current_config(request, now())
        client = await stack.enter_async_context(self._connections.use(config))
        url = client.configuration.host + request.path
        sent = now()
        try:
            async with asyncio.timeout(options.header_timeout.total_seconds()):
                answer = await client.call_api(
                    request.method,
                    f"{url}?{urlencode(request.query)}" if request.query else url,
                    header_params=self._headers(config, options),
                    body=options.body,
                    _request_timeout=options.timeout,
                )
        except TRANSPORT_ERRORS as err:
            failed = transport_error(request, err)
        else:
            stack.callback(answer.response.close)
            self._record_date(answer.headers.get("Date", ""), sent=sent, received=now())
            return config, answer.response
        # Raised outside of the handler it has no context, which would keep the buffers of a failed
        # TLS handshake (256 KiB) alive as long as the error itself.
        raise failed

    async def _current_config(self, request: RequestInfo, now: float) -> RestConfig:
        server_time = None
        if self._server_date is not None:
            server_time = self._server_date[0] + timedelta(seconds=now - self._server_date[1])
        try:
            return await self._credentials.current_config(server_time=server_time)
        except ConfigurationError as err:
            raise Refused(request.operation, message=str(err)) from err

    def _headers(self, config: RestConfig, options: RequestOptions) -> dict[str, str]:
        """
        Build the headers. Compression is declined: inside a cluster it costs more than it saves.
        """
        headers = {"User-Agent": self._agent, "Accept-Encoding": "identity", **options.headers}
        return headers | ({"Authorization": config.authorization} if config.authorization else {})

    def _record_date(self, text: str, *, sent: float, received: float) -> None:
        date = parse_http_date(text)
        if date is not None:
            self._server_date = (date, received)
            self._on_date(date, sent=sent, received=received)
