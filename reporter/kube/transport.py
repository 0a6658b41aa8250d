"""Send one request, with our credentials and timeouts."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlencode

import aiohttp

from reporter.kube.connections import ConnectedResponse, Connections, user_agent
from reporter.kube.credentials import Credentials
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Refused
from reporter.kube.received_response import ReceivedResponse
from reporter.kube.request_options import RequestOptions
from reporter.kube.rest_config import RestConfig
from reporter.kube.transport_errors import TRANSPORT_ERRORS, transport_error
from reporter.process.clock import Clock
from reporter.process.server_time import ServerTime, parse_http_date
from reporter.process.subscribers import Subscribers
from reporter.settings.errors import ConfigurationError


CONNECT_TIMEOUT = timedelta(seconds=5)

IMPERSONATE_USER = "Impersonate-User"
"""
The header of the API server for --as of kubectl (Kubernetes documentation, User impersonation).
"""


class Transport:
    """
    Sends requests. Raises a KubeError without a response; of the statuses only 401 is handled here.

    Nothing that a pod determines corrects *clock* or renews the credentials. *impersonated*: the user
    that requests act as; empty: that of the credentials. *requests*: as `RestClient` has them.
    """

    def __init__(
        self,
        credentials: Credentials,
        connections: Connections,
        clock: Clock | None,
        *,
        impersonated: str = "",
    ) -> None:
        self._credentials = credentials
        self._connections = connections
        self.requests: Subscribers[str, int | None] = Subscribers()
        self._own_headers = {"User-Agent": user_agent(), "Accept-Encoding": "identity"}
        if impersonated:
            self._own_headers[IMPERSONATE_USER] = impersonated
        self._clock = clock
        self._seconds = asyncio.get_running_loop().time if clock is None else clock.seconds
        local = None if clock is None else clock.offset
        self._server_time = ServerTime(local_offset=local, started=self._seconds())

    @asynccontextmanager
    async def send(
        self, request: RequestInfo, options: RequestOptions
    ) -> AsyncIterator[ReceivedResponse]:
        """Yield the response with its body unread; a 401 is retried with renewed credentials."""
        async with AsyncExitStack() as stack:
            config, response = await self._send_once(stack, request, options)
            unauthorized = response.status == HTTPStatus.UNAUTHORIZED and not options.from_pod
            if unauthorized and await self._renew(request, config):
                response.close()
                _, response = await self._send_once(stack, request, options)
            yield ReceivedResponse(request, response)

    async def close(self) -> None:
        """End a renewal of the credentials, then all connections."""
        await self._credentials.close()
        await self._connections.close()

    async def _send_once(
        self, stack: AsyncExitStack, request: RequestInfo, options: RequestOptions
    ) -> tuple[RestConfig, aiohttp.ClientResponse]:
        config = await self._current_config(request)
        session = await stack.enter_async_context(self._connections.use(config))
        url = f"{config.host}{request.path}"
        sent = self._seconds()
        try:
            async with asyncio.timeout(options.header_timeout.total_seconds()):
                response = await session.request(
                    request.method,
                    f"{url}?{urlencode(request.query)}" if request.query else url,
                    headers=self._headers(config, options),
                    data=None if options.body is None else json.dumps(options.body),
                    timeout=_client_timeout(options),
                    proxy=config.proxy,
                    server_hostname=config.server_name,
                )
        except TRANSPORT_ERRORS as err:
            self.requests.notify(request.verb, None)
            failed = transport_error(request, err)
        else:
            self.requests.notify(request.verb, response.status)
            stack.callback(response.close)
            if not options.from_pod and is_from_api_server(response):
                self._record_date(response, sent=sent)
            return config, response
        # Raised outside of the handler it has no context, which would keep the buffers of a failed
        # TLS handshake (256 KiB) alive as long as the error itself.
        raise failed

    async def _current_config(self, request: RequestInfo) -> RestConfig:
        server_time = self._server_time.at(self._seconds())
        try:
            return await self._credentials.current_config(server_time=server_time)
        except ConfigurationError as err:
            raise Refused(request.operation, message=str(err)) from err

    async def _renew(self, request: RequestInfo, refused: RestConfig) -> bool:
        try:
            return await self._credentials.renew(refused)
        except ConfigurationError as err:
            raise Refused(request.operation, message=str(err)) from err

    def _headers(self, config: RestConfig, options: RequestOptions) -> dict[str, str]:
        """
        Build the headers. Compression is declined: inside a cluster it costs more than it saves.
        """
        headers = {**self._own_headers, **options.headers}
        return headers | ({"Authorization": config.authorization} if config.authorization else {})

    def _record_date(self, response: aiohttp.ClientResponse, *, sent: float) -> None:
        date = parse_http_date(response.headers.get("Date", ""))
        if date is None or not isinstance(response, ConnectedResponse):
            return
        self._server_time.record(
            date, sent=sent, received=self._seconds(), connection=response.local_address
        )
        bounds = self._server_time.bounds()
        if self._clock is not None and bounds is not None:
            self._clock.correct(bounds)


def _client_timeout(options: RequestOptions) -> aiohttp.ClientTimeout:
    limit, idle = options.time_limit, options.idle_timeout
    return aiohttp.ClientTimeout(
        total=limit.total_seconds() if limit is not None else None,
        sock_connect=min(CONNECT_TIMEOUT, limit or CONNECT_TIMEOUT).total_seconds(),
        sock_read=idle.total_seconds() if idle is not None else None,
    )


def is_from_api_server(response: aiohttp.ClientResponse) -> bool:
    """Return whether this is a response as API servers send it; a proxy's error page is not."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return True
    return response.headers.get("Content-Type", "").lower().startswith("application/json")
