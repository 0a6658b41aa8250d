"""
Read the page of one pod, at its own address or through the API server.

What answers is a container that anyone may have built: it gets no credentials, sends us nowhere,
and neither its size nor its slowness costs more than is set here.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from http import HTTPStatus
from typing import Self

import aiohttp

from reporter.kube.client.client import RestClient
from reporter.kube.client.connections import user_agent
from reporter.kube.scrape.addresses import format_url_host, is_pod_address
from reporter.kube.scrape.schedule import LastOutcome
from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS, is_html
from reporter.kube.wire.errors import KubeError, Refused
from reporter.model.kinds.core.pods import Pod
from reporter.model.samples import ScrapeResult


SCRAPE_TIMEOUT = timedelta(seconds=5)
CONNECT_TIMEOUT = timedelta(seconds=1)
FIRST_READ_TIMEOUT = timedelta(seconds=2)
"""
How long a pod may send nothing when it is read for the first time; later it has all of TOTAL.
"""

MAX_PAGE_BYTES = 4 * 1024 * 1024
"""
Bytes of a page.
"""

SMALL_PAGE_BYTES, MAX_LARGE_PAGES = 64 * 1024, 8
"""
Bytes of a page, and how many pages at once may have more: of pods that were read before, and of
others. Hundreds of pods are waited for at once, but no more than 2 * 8 * 4 MiB are kept of what they
send, beside what a connection buffers of each: 0.4 MiB if it does not end.
"""

ACCEPT = "text/plain;version=0.0.4"
"""
OpenMetrics would name some families otherwise.
"""

METRICS_PATH = "/metrics"


_DNS_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]|\.[a-z0-9]){0,252}")
"""
What may stand in a path: no other name leads to other places of the API server.
"""


class ScrapeError(Exception):
    """
    Why there is no page, in words and as one of a closed set.
    """

    def __init__(self, result: ScrapeResult, why: str) -> None:
        super().__init__(why)
        self.result = result
        self.why = why


class DirectFetcher:
    """
    Pages at the pods' own addresses. *allowed* tells which of these may be read.

    *within*: how long one may take. *silence*: for how long a pod may send nothing at its first turn.
    """

    def __init__(
        self,
        port: int,
        *,
        is_allowed: Callable[[str], bool] = is_pod_address,
        timeout: timedelta = SCRAPE_TIMEOUT,
        first_read_timeout: timedelta = FIRST_READ_TIMEOUT,
    ) -> None:
        self._port, self._is_allowed, self._timeout = port, is_allowed, timeout.total_seconds()
        self._first_timeout, self._later_timeout = (
            _client_timeout(first_read_timeout),
            _client_timeout(timeout),
        )
        self._large_page_slots = {
            known: asyncio.Semaphore(MAX_LARGE_PAGES) for known in (True, False)
        }
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            headers={
                "User-Agent": user_agent(),
                "Accept": ACCEPT,
                "Accept-Encoding": "identity",
            },
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def fetch(self, pod: Pod, trust: LastOutcome) -> bytes:
        """
        Raises NoPage.
        """
        address = pod.status.pod_ip or ""
        if not self._is_allowed(address):
            raise ScrapeError(ScrapeResult.BARRED, "its address is none that pods have")
        url = f"http://{format_url_host(address)}:{self._port}{METRICS_PATH}"
        large = self._large_page_slots[trust is LastOutcome.SUCCEEDED]
        timeout = self._first_timeout if trust is LastOutcome.NEW else self._later_timeout
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._session.get(url, allow_redirects=False, timeout=timeout) as response,
            ):
                _check_response(response)
                return await _read_body(response, large)
        except TRANSPORT_ERRORS as err:
            raise _scrape_error(err, self._port) from err


class ProxyFetcher:
    """
    Pages through the API server's proxy, which needs the right to get pods/proxy.
    """

    def __init__(self, api: RestClient, port: int) -> None:
        self._api, self._port = api, port

    async def fetch(self, pod: Pod, _: LastOutcome) -> bytes:
        """
        Raises NoPage.
        """
        meta = pod.metadata
        if not (_DNS_NAME.fullmatch(meta.namespace) and _DNS_NAME.fullmatch(meta.name)):
            raise ScrapeError(ScrapeResult.BARRED, "its name is none that pods have")
        place = f"/api/v1/namespaces/{meta.namespace}/pods/{meta.name}:{self._port}/proxy{METRICS_PATH}"
        doing = f"read {METRICS_PATH} of pod {meta.namespace}/{meta.name}"
        try:
            answer = await self._api.call(
                "GET",
                place,
                accept=ACCEPT,
                timeout=SCRAPE_TIMEOUT,
                max_bytes=MAX_PAGE_BYTES,
                operation=doing,
            )
        except Refused as err:
            raise ScrapeError(
                ScrapeResult.FORBIDDEN, f"the API server refuses: {err.why}"
            ) from err
        except KubeError as err:
            unusable = err.status == HTTPStatus.OK
            result = ScrapeResult.UNUSABLE if unusable else ScrapeResult.FAILED
            raise ScrapeError(result, f"through the API server: {err.why}") from err
        return answer.body


def _check_response(response: aiohttp.ClientResponse) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST:
        raise ScrapeError(
            ScrapeResult.UNUSABLE, "its page is elsewhere, and redirects are not followed"
        )
    if response.status != HTTPStatus.OK:
        raise ScrapeError(ScrapeResult.FAILED, f"it answers with HTTP {response.status}")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is compressed, which was not asked for")
    if is_html(response.headers):
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is HTML")


async def _read_body(response: aiohttp.ClientResponse, large: asyncio.Semaphore) -> bytes:
    """
    *large*: the places for pages that are not small.
    """
    body, small = bytearray(), True
    async with AsyncExitStack() as place:
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > MAX_PAGE_BYTES:
                raise ScrapeError(
                    ScrapeResult.UNUSABLE, f"its page has more than {MAX_PAGE_BYTES} bytes"
                )
            if small and len(body) > SMALL_PAGE_BYTES:
                small = False
                await place.enter_async_context(large)
        return bytes(body)


def _client_timeout(silence: timedelta) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None,
        sock_connect=CONNECT_TIMEOUT.total_seconds(),
        sock_read=silence.total_seconds(),
    )


def _scrape_error(err: BaseException, port: int) -> ScrapeError:
    if isinstance(err, aiohttp.ConnectionTimeoutError):
        return ScrapeError(ScrapeResult.UNREACHABLE, "it cannot be connected to in time")
    if isinstance(err, TimeoutError):
        return ScrapeError(ScrapeResult.TIMED_OUT, "it does not send its page in time")
    if isinstance(err, aiohttp.ClientConnectorError):
        if isinstance(err.os_error, ConnectionRefusedError):
            return ScrapeError(ScrapeResult.REFUSED, f"nothing listens at port {port}")
        return ScrapeError(
            ScrapeResult.UNREACHABLE, f"it cannot be reached: {err.os_error.strerror or err}"
        )
    return ScrapeError(ScrapeResult.FAILED, f"it sends no page: {type(err).__name__}")
