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
from datetime import timedelta
from functools import lru_cache
from http import HTTPStatus

from reporter.kinds.core import Pod
from reporter.kube.client import RestClient
from reporter.kube.connections import user_agent
from reporter.kube.errors import KubeError, Refused
from reporter.scrape import limits
from reporter.scrape.exchange import FetchedPage, PageExchange, Timeouts
from reporter.scrape.samples import ScrapeError, ScrapeResult
from reporter.scrape.schedule import LastOutcome
from reporter.scrape.socket_watch import SocketWatch


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


@lru_cache(maxsize=16_384)
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

_REQUEST_LINE = f"GET {METRICS_PATH} HTTP/1.1\r\n"

_DNS_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]|\.[a-z0-9]){0,252}")
"""
Names that may become part of a request path: any other could lead elsewhere in the API server.
"""


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
        self._is_allowed = is_allowed
        connect, whole = limits.CONNECT_TIMEOUT.total_seconds(), timeout.total_seconds()
        self._timeouts = Timeouts(connect, whole, whole)
        self._first_timeouts = Timeouts(connect, first_read_timeout.total_seconds(), whole)
        self._large_page_slots = {
            read_before: asyncio.Semaphore(limits.MAX_LARGE_PAGES) for read_before in (True, False)
        }
        self._headers = (
            f"User-Agent: {user_agent()}\r\n"
            f"Accept: {ACCEPT}\r\n"
            "Accept-Encoding: identity\r\n"
            "Connection: close\r\n\r\n"
        )
        self._watch, self._buffer = SocketWatch(), memoryview(bytearray(limits.RECEIVED_BYTES))

    async def fetch(self, pod: Pod, port: int, last_outcome: LastOutcome) -> FetchedPage:
        """
        Return the page at the pod's address. Raise ScrapeError, with BARRED for a forbidden address.
        """
        address = pod.status.pod_ip or ""
        if not self._is_allowed(address):
            raise ScrapeError(ScrapeResult.BARRED, "its address is not one that a pod can have")
        first = last_outcome is LastOutcome.NEW
        exchange = PageExchange(
            (address, port),
            f"{_REQUEST_LINE}Host: {format_url_host(address)}:{port}\r\n{self._headers}".encode(),
            self._first_timeouts if first else self._timeouts,
            self._watch,
            self._buffer,
        )
        return await exchange.read(self._large_page_slots[last_outcome is LastOutcome.SUCCEEDED])


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
