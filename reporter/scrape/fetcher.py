"""
Fetch the metrics page of one pod, at its own address or through the API server.

The server is a container that anyone may have built. It gets no credentials, its redirects are not
followed, and `reporter.scrape.limits` bounds what a large or slow page costs. Whoever may write a pod's
status chooses where we connect to, so addresses that only this machine or its node should reach are
never read: loopback, link-local, and the metadata services of clouds.
"""

import asyncio
import ipaddress
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from http import HTTPStatus
from typing import Self

import aiohttp

from reporter.kinds.core import Pod
from reporter.kube.client import RestClient
from reporter.kube.connections import user_agent
from reporter.kube.error_mapping import is_html
from reporter.kube.errors import KubeError, Refused
from reporter.kube.transport_errors import TRANSPORT_ERRORS
from reporter.scrape import limits
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.schedule import LastOutcome


METADATA_SERVICES = frozenset(
    map(
        ipaddress.ip_address,
        (
            "168.63.129.16",  # Azure, WireServer
            "100.100.100.200",  # Alibaba Cloud
            "192.0.0.192",  # Oracle Cloud
            "fd00:ec2::254",  # AWS; most others are link-local
            "fd20:ce::254",  # Google Cloud
        ),
    )
)
THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
BROADCAST = ipaddress.ip_address("255.255.255.255")
"""Only this address of 240.0.0.0/4 is refused: some clusters give the others to pods."""


def is_pod_address(text: str) -> bool:
    """
    Return whether an address may be that of a pod.

    False for loopback, link-local, multicast and metadata services, so that a forged status cannot
    make the scraper ask these, and for no IP address.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            return is_pod_address(str(address.ipv4_mapped))
        if address.is_reserved or address.sixtofour is not None or address.teredo is not None:
            return False
    return address not in METADATA_SERVICES and not (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or address in THIS_NETWORK
        or address == BROADCAST
    )


def format_url_host(address: str) -> str:
    """Return an IP address as a URL has it: IPv6 in brackets."""
    return f"[{address}]" if ":" in address else address


ACCEPT = "text/plain;version=0.0.4"
"""The classic text format: OpenMetrics names some families differently."""

METRICS_PATH = "/metrics"

_DNS_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]|\.[a-z0-9]){0,252}")
"""
Names that may become part of a request path: any other could lead elsewhere in the API server.
"""


class ScrapeError(Exception):
    """No usable page; *result* is the class of failure, *why* the text for people."""

    def __init__(self, result: ScrapeResult, why: str) -> None:
        super().__init__(why)
        self.result = result
        self.why = why


class FetchedPage:
    """
    The body of a page, which ``async with`` gives.

    A large page holds one of a few slots until the block ends, so that few are in memory at once.
    """

    def __init__(self, body: bytes, held_slot: AsyncExitStack | None = None) -> None:
        self._body, self._held_slot = body, held_slot or AsyncExitStack()

    async def __aenter__(self) -> bytes:
        return self._body

    async def __aexit__(self, *_: object) -> None:
        await self._held_slot.aclose()


class DirectFetcher:
    """
    The fetcher of pages at the pods' own addresses.

    *is_allowed*: returns whether an address may be read. *timeout*: for a whole page.
    *first_read_timeout*: how long a pod may send nothing at its first scrape.
    """

    def __init__(
        self,
        *,
        is_allowed: Callable[[str], bool] = is_pod_address,
        timeout: timedelta = limits.SCRAPE_TIMEOUT,
        first_read_timeout: timedelta = limits.FIRST_READ_TIMEOUT,
    ) -> None:
        self._is_allowed, self._timeout = is_allowed, timeout.total_seconds()
        self._first_timeout, self._later_timeout = (
            _client_timeout(first_read_timeout),
            _client_timeout(timeout),
        )
        self._large_page_slots = {
            read_before: asyncio.Semaphore(limits.MAX_LARGE_PAGES) for read_before in (True, False)
        }
        self._session = aiohttp.ClientSession(
            # No connection is kept: vLLM closes an idle one after 5 s (VLLM_HTTP_TIMEOUT_KEEP_ALIVE in
            # vllm/envs.py), which is before the next scrape, and each would be an open file.
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

    async def fetch(self, pod: Pod, port: int, last_outcome: LastOutcome) -> FetchedPage:
        """
        Return the page at the pod's address. Raise ScrapeError, with BARRED for a forbidden address.
        """
        address = pod.status.pod_ip or ""
        if not self._is_allowed(address):
            raise ScrapeError(ScrapeResult.BARRED, "its address is not one that a pod can have")
        url = f"http://{format_url_host(address)}:{port}{METRICS_PATH}"
        large_page_slots = self._large_page_slots[last_outcome is LastOutcome.SUCCEEDED]
        first = last_outcome is LastOutcome.NEW
        timeout = self._first_timeout if first else self._later_timeout
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._session.get(url, allow_redirects=False, timeout=timeout) as response,
            ):
                _check_response(response)
                return await _read_body(response, large_page_slots)
        except TRANSPORT_ERRORS as err:
            raise _scrape_error(err, port) from err


class ProxyFetcher:
    """The fetcher of pages through the API server, which needs the permission get pods/proxy."""

    def __init__(self, api: RestClient) -> None:
        self._api = api

    async def fetch(self, pod: Pod, port: int, _: LastOutcome) -> FetchedPage:
        """
        Return the page from the API server. Raise ScrapeError, with FORBIDDEN if that refuses.
        """
        meta = pod.metadata
        if not (_DNS_NAME.fullmatch(meta.namespace) and _DNS_NAME.fullmatch(meta.name)):
            raise ScrapeError(ScrapeResult.BARRED, "its name is not a valid pod name")
        path = f"/api/v1/namespaces/{meta.namespace}/pods/{meta.name}:{port}/proxy{METRICS_PATH}"
        operation = f"read {METRICS_PATH} of pod {meta.namespace}/{meta.name}"
        try:
            response = await self._api.call(
                "GET",
                path,
                accept=ACCEPT,
                timeout=limits.SCRAPE_TIMEOUT,
                max_bytes=limits.MAX_PROXIED_PAGE_BYTES,
                from_pod=True,
                operation=operation,
            )
        except Refused as err:
            raise ScrapeError(
                ScrapeResult.FORBIDDEN, f"the API server refuses: {err.why}"
            ) from err
        except KubeError as err:
            # An error with status 200 is about the body, such as one that is too large.
            unusable = err.status == HTTPStatus.OK
            result = ScrapeResult.UNUSABLE if unusable else ScrapeResult.FAILED
            raise ScrapeError(result, f"through the API server: {err.why}") from err
        return FetchedPage(response.body)


def _check_response(response: aiohttp.ClientResponse) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST:
        raise ScrapeError(ScrapeResult.UNUSABLE, "it redirects, which is not followed")
    if response.status != HTTPStatus.OK:
        raise ScrapeError(ScrapeResult.FAILED, f"it answers with HTTP {response.status}")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is compressed, which was not asked for")
    if is_html(response.headers):
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is HTML")


async def _read_body(
    response: aiohttp.ClientResponse, large_page_slots: asyncio.Semaphore
) -> FetchedPage:
    """Read the body, from SMALL_PAGE_BYTES on only while one of *large_page_slots* is held."""
    body, small, chunks = bytearray(), True, 0
    async with AsyncExitStack() as held_slot:
        async for chunk, _ in response.content.iter_chunks():
            body += chunk
            chunks += 1
            if len(body) > limits.MAX_PAGE_BYTES:
                raise _too_costly(f"its page has more than {limits.MAX_PAGE_BYTES} bytes")
            if chunks > limits.MAX_CHUNKS:
                raise _too_costly(f"its page has more than {limits.MAX_CHUNKS} chunks")
            if small and len(body) > limits.SMALL_PAGE_BYTES:
                small = False
                await held_slot.enter_async_context(large_page_slots)
        return FetchedPage(bytes(body), held_slot.pop_all())


def _too_costly(why: str) -> ScrapeError:
    return ScrapeError(ScrapeResult.TOO_COSTLY, why)


def _client_timeout(read_timeout: timedelta) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None,
        sock_connect=limits.CONNECT_TIMEOUT.total_seconds(),
        sock_read=read_timeout.total_seconds(),
    )


def _scrape_error(err: BaseException, port: int) -> ScrapeError:
    if isinstance(err, aiohttp.ConnectionTimeoutError):
        return ScrapeError(ScrapeResult.UNREACHABLE, "connecting to it timed out")
    if isinstance(err, TimeoutError):
        return ScrapeError(ScrapeResult.TIMED_OUT, "it does not send its page in time")
    if isinstance(err, aiohttp.ClientConnectorError):
        if isinstance(err.os_error, ConnectionRefusedError):
            return ScrapeError(ScrapeResult.REFUSED, f"nothing listens at port {port}")
        return ScrapeError(
            ScrapeResult.UNREACHABLE, f"it cannot be reached: {err.os_error.strerror or err}"
        )
    return ScrapeError(ScrapeResult.FAILED, f"it sends no page: {type(err).__name__}")
