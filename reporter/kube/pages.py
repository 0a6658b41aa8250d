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

from reporter.kube.addresses import in_url, is_address_of_a_pod
from reporter.kube.client import Api
from reporter.kube.connections import user_agent
from reporter.kube.errors import KubeError, Refused
from reporter.kube.rounds import Trust
from reporter.kube.translation import TRANSPORT_FAILURES, is_page
from reporter.model.objects import Pod
from reporter.model.samples import ScrapeResult


TOTAL = timedelta(seconds=5)
CONNECTING = timedelta(seconds=1)
FIRST_SILENCE = timedelta(seconds=2)
"""
How long a pod may send nothing when it is read for the first time; later it has all of TOTAL.
"""

LARGEST = 4 * 1024 * 1024
"""
Bytes of a page.
"""

SMALL, MANY_LARGE = 64 * 1024, 8
"""
Bytes of a page, and how many pages at once may have more: of pods that were read before, and of
others. Hundreds of pods are waited for at once, but no more than 2 * 8 * 4 MiB are kept of what they
send, beside what a connection buffers of each: 0.4 MiB if it does not end.
"""

ACCEPT = "text/plain;version=0.0.4"
"""
OpenMetrics would name some families otherwise.
"""

PATH = "/metrics"


_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]|\.[a-z0-9]){0,252}")
"""
What may stand in a path: no other name leads to other places of the API server.
"""


class NoPage(Exception):
    """
    Why there is no page, in words and as one of a closed set.
    """

    def __init__(self, result: ScrapeResult, why: str) -> None:
        super().__init__(why)
        self.result = result
        self.why = why


class AtPods:
    """
    Pages at the pods' own addresses. *allowed* tells which of these may be read.

    *within*: how long one may take. *silence*: for how long a pod may send nothing at its first turn.
    """

    def __init__(
        self,
        port: int,
        *,
        allowed: Callable[[str], bool] = is_address_of_a_pod,
        within: timedelta = TOTAL,
        silence: timedelta = FIRST_SILENCE,
    ) -> None:
        self._port, self._allowed, self._within = port, allowed, within.total_seconds()
        self._first, self._later = _timeout(silence), _timeout(within)
        self._large = {known: asyncio.Semaphore(MANY_LARGE) for known in (True, False)}
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

    async def read(self, pod: Pod, trust: Trust) -> bytes:
        """
        Raises NoPage.
        """
        address = pod.status.pod_ip or ""
        if not self._allowed(address):
            raise NoPage(ScrapeResult.BARRED, "its address is none that pods have")
        url = f"http://{in_url(address)}:{self._port}{PATH}"
        large = self._large[trust is Trust.READ]
        timeout = self._first if trust is Trust.NEW else self._later
        try:
            async with (
                asyncio.timeout(self._within),
                self._session.get(url, allow_redirects=False, timeout=timeout) as response,
            ):
                _check(response)
                return await _body(response, large)
        except TRANSPORT_FAILURES as err:
            raise _no_page(err, self._port) from err


class ThroughServer:
    """
    Pages through the API server's proxy, which needs the right to get pods/proxy.
    """

    def __init__(self, api: Api, port: int) -> None:
        self._api, self._port = api, port

    async def read(self, pod: Pod, _: Trust) -> bytes:
        """
        Raises NoPage.
        """
        meta = pod.metadata
        if not (_NAME.fullmatch(meta.namespace) and _NAME.fullmatch(meta.name)):
            raise NoPage(ScrapeResult.BARRED, "its name is none that pods have")
        place = f"/api/v1/namespaces/{meta.namespace}/pods/{meta.name}:{self._port}/proxy{PATH}"
        doing = f"read {PATH} of pod {meta.namespace}/{meta.name}"
        try:
            answer = await self._api.call(
                "GET", place, accept=ACCEPT, timeout=TOTAL, largest=LARGEST, doing=doing
            )
        except Refused as err:
            raise NoPage(ScrapeResult.FORBIDDEN, f"the API server refuses: {err.why}") from err
        except KubeError as err:
            unusable = err.status == HTTPStatus.OK
            result = ScrapeResult.UNUSABLE if unusable else ScrapeResult.FAILED
            raise NoPage(result, f"through the API server: {err.why}") from err
        return answer.body


def _check(response: aiohttp.ClientResponse) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST:
        raise NoPage(
            ScrapeResult.UNUSABLE, "its page is elsewhere, and redirects are not followed"
        )
    if response.status != HTTPStatus.OK:
        raise NoPage(ScrapeResult.FAILED, f"it answers with HTTP {response.status}")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise NoPage(ScrapeResult.UNUSABLE, "its page is compressed, which was not asked for")
    if is_page(response.headers):
        raise NoPage(ScrapeResult.UNUSABLE, "its page is HTML")


async def _body(response: aiohttp.ClientResponse, large: asyncio.Semaphore) -> bytes:
    """
    *large*: the places for pages that are not small.
    """
    body, small = bytearray(), True
    async with AsyncExitStack() as place:
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > LARGEST:
                raise NoPage(ScrapeResult.UNUSABLE, f"its page has more than {LARGEST} bytes")
            if small and len(body) > SMALL:
                small = False
                await place.enter_async_context(large)
        return bytes(body)


def _timeout(silence: timedelta) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None,
        sock_connect=CONNECTING.total_seconds(),
        sock_read=silence.total_seconds(),
    )


def _no_page(err: BaseException, port: int) -> NoPage:
    if isinstance(err, aiohttp.ConnectionTimeoutError):
        return NoPage(ScrapeResult.UNREACHABLE, "it cannot be connected to in time")
    if isinstance(err, TimeoutError):
        return NoPage(ScrapeResult.TIMED_OUT, "it does not send its page in time")
    if isinstance(err, aiohttp.ClientConnectorError):
        if isinstance(err.os_error, ConnectionRefusedError):
            return NoPage(ScrapeResult.REFUSED, f"nothing listens at port {port}")
        return NoPage(
            ScrapeResult.UNREACHABLE, f"it cannot be reached: {err.os_error.strerror or err}"
        )
    return NoPage(ScrapeResult.FAILED, f"it sends no page: {type(err).__name__}")
