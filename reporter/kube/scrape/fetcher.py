"""
Fetch the metrics page of one pod, at its own address or through the API server.

The server is a container that anyone may have built. It gets no credentials, its redirects are not
followed, and `reporter.kube.scrape.limits` bounds what a large or slow page costs.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from http import HTTPStatus

from reporter.kube.client.client import RestClient
from reporter.kube.client.connections import user_agent
from reporter.kube.scrape.addresses import format_url_host, is_pod_address
from reporter.kube.scrape.http_response import (
    MalformedResponse,
    OversizedResponse,
    ResponseParser,
)
from reporter.kube.scrape.limits import (
    CONNECT_TIMEOUT,
    FIRST_READ_TIMEOUT,
    MAX_LARGE_PAGES,
    MAX_PROXIED_PAGE_BYTES,
    READ_BYTES,
    SCRAPE_TIMEOUT,
    SMALL_PAGE_BYTES,
)
from reporter.kube.scrape.schedule import LastOutcome
from reporter.kube.wire.error_mapping import is_html
from reporter.kube.wire.errors import KubeError, Refused
from reporter.model.kinds.core.pods import Pod
from reporter.model.metrics.samples import ScrapeResult


ACCEPT = "text/plain;version=0.0.4"
"""
The classic text format: OpenMetrics names some families differently.
"""

METRICS_PATH = "/metrics"

_DNS_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]|\.[a-z0-9]){0,252}")
"""
Names that may become part of a request path: any other could lead elsewhere in the API server.
"""


class ScrapeError(Exception):
    """
    No usable page; *result* is the class of failure, *why* the text for people.
    """

    def __init__(self, result: ScrapeResult, why: str) -> None:
        super().__init__(why)
        self.result = result
        self.why = why


class FetchedPage:
    """
    The body of a page; inside of ``with`` it may be as large as a page can be.
    """

    def __init__(self, body: bytes, held: ExitStack | None = None) -> None:
        self._body, self._held = body, held or ExitStack()

    def __enter__(self) -> bytes:
        return self._body

    def __exit__(self, *_: object) -> None:
        self._held.close()


class DirectFetcher:
    """
    Fetches pages at the pods' own addresses.

    *is_allowed*: returns whether an address may be read. *timeout*: for a whole page.
    *first_read_timeout*: how long a pod may send nothing at its first scrape.
    """

    def __init__(
        self,
        *,
        is_allowed: Callable[[str], bool] = is_pod_address,
        timeout: timedelta = SCRAPE_TIMEOUT,
        first_read_timeout: timedelta = FIRST_READ_TIMEOUT,
    ) -> None:
        self._is_allowed, self._timeout = is_allowed, timeout.total_seconds()
        self._first_read_timeout = first_read_timeout.total_seconds()
        self._user_agent = user_agent()
        self._large_page_slots = {
            read_before: asyncio.Semaphore(MAX_LARGE_PAGES) for read_before in (True, False)
        }

    async def fetch(self, pod: Pod, port: int, last_outcome: LastOutcome) -> FetchedPage:
        """
        Raises ScrapeError.
        """
        address = pod.status.pod_ip or ""
        if not self._is_allowed(address):
            raise ScrapeError(ScrapeResult.BARRED, "its address is not one that a pod can have")
        try:
            async with asyncio.timeout(self._timeout):
                with await _connect(address, port) as sock:
                    await asyncio.get_running_loop().sock_sendall(
                        sock, self._request(address, port)
                    )
                    return await self._read(sock, last_outcome)
        except TimeoutError as err:
            raise ScrapeError(ScrapeResult.TIMED_OUT, "it does not send its page in time") from err
        except OversizedResponse as err:
            raise ScrapeError(ScrapeResult.TOO_COSTLY, str(err)) from err
        except (MalformedResponse, OSError) as err:
            raise ScrapeError(ScrapeResult.FAILED, f"it sends no page: {_describe(err)}") from err

    def _request(self, address: str, port: int) -> bytes:
        return (
            f"GET {METRICS_PATH} HTTP/1.1\r\n"
            f"Host: {format_url_host(address)}:{port}\r\n"
            f"User-Agent: {self._user_agent}\r\n"
            f"Accept: {ACCEPT}\r\n"
            "Accept-Encoding: identity\r\n"
            "Connection: close\r\n\r\n"
        ).encode()

    async def _read(self, sock: socket.socket, last_outcome: LastOutcome) -> FetchedPage:
        """
        Read the page, from SMALL_PAGE_BYTES on only while a slot for large pages is held.
        """
        loop = asyncio.get_running_loop()
        response, is_checked, is_small = ResponseParser(), False, True
        first = last_outcome is LastOutcome.NEW
        with ExitStack() as held_slot:
            while not response.is_whole:
                async with asyncio.timeout(self._first_read_timeout if first else None):
                    data = await loop.sock_recv(sock, READ_BYTES)
                if len(data) == READ_BYTES:
                    await asyncio.sleep(0)  # a socket that is always ready lets no other task run
                if data:
                    response.feed(data)
                else:
                    response.end()
                if response.status is not None and not is_checked:
                    is_checked = True
                    _check_response(response.status, response.headers)
                if is_small and response.size > SMALL_PAGE_BYTES:
                    is_small = False
                    slots = self._large_page_slots[last_outcome is LastOutcome.SUCCEEDED]
                    await slots.acquire()
                    held_slot.callback(slots.release)
            return FetchedPage(response.take_body(), held_slot.pop_all())


class ProxyFetcher:
    """
    Fetches pages through the API server's proxy, which needs the permission get pods/proxy.
    """

    def __init__(self, api: RestClient) -> None:
        self._api = api

    async def fetch(self, pod: Pod, port: int, _: LastOutcome) -> FetchedPage:
        """
        Raises ScrapeError.
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
                timeout=SCRAPE_TIMEOUT,
                max_bytes=MAX_PROXIED_PAGE_BYTES,
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


def _check_response(status: int, headers: Mapping[str, str]) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise ScrapeError(ScrapeResult.UNUSABLE, "it redirects, which is not followed")
    if status != HTTPStatus.OK:
        raise ScrapeError(ScrapeResult.FAILED, f"it answers with HTTP {status}")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is compressed, which was not asked for")
    if is_html({"Content-Type": headers.get("content-type", "")}):
        raise ScrapeError(ScrapeResult.UNUSABLE, "its page is HTML")


async def _connect(address: str, port: int) -> socket.socket:
    """
    Raises ScrapeError.
    """
    try:
        with ExitStack() as opened:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            sock = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
            sock.setblocking(False)
            async with asyncio.timeout(CONNECT_TIMEOUT.total_seconds()):
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
            opened.pop_all()
            return sock
    except TimeoutError as err:
        raise ScrapeError(ScrapeResult.UNREACHABLE, "connecting to it timed out") from err
    except ConnectionRefusedError as err:
        raise ScrapeError(ScrapeResult.REFUSED, f"nothing listens at port {port}") from err
    except OSError as err:
        raise ScrapeError(
            ScrapeResult.UNREACHABLE, f"it cannot be reached: {err.strerror or err}"
        ) from err


def _describe(err: Exception) -> str:
    return str(err) if isinstance(err, MalformedResponse) else type(err).__name__
