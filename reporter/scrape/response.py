"""
Read the response of a pod to the request for its metrics page, as its bytes come in. Pure.

httptools, on the parser of Node.js, finds its parts. It bounds nothing, so what a response may cost is
counted here: a pod may send whatever it likes.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NoReturn

import httptools

from reporter.kube.error_mapping import is_html
from reporter.scrape import limits
from reporter.scrape.samples import ScrapeError, ScrapeResult


_PLAIN_FRAMINGS = frozenset({"chunked", "identity"})
"""Transfer codings that leave the body as it is; any other is a compression."""


class PageResponse:
    """
    The response to one request. Interim ones before it are passed over, and what follows it is not read.

    *size*: the bytes of the body so far. *is_complete*: the body has ended where its head says.
    """

    def __init__(self) -> None:
        self.size, self.is_complete = 0, False
        self._ends_with_connection = False
        self._body: list[bytes] = []
        self._headers: dict[str, str] = {}
        self._header_count = self._parts = self._received = self._since_body = 0
        self._refusal: tuple[ScrapeResult, str] | None = None
        self._parser = httptools.HttpResponseParser(self)
        # Bare line feeds and the like, as in the responses of exporters that are written by hand.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def feed(self, data: memoryview) -> None:
        """Take bytes that came; raise ScrapeError if the response is no page, or costs too much."""
        size_before = self.size
        try:
            self._count_part()
            self._parser.feed_data(data)
        except (httptools.HttpParserError, _StopParsingError) as err:
            if self._refusal is not None:
                raise ScrapeError(*self._refusal) from None
            if not self.is_complete:
                raise no_page("its response is not HTTP/1.1") from err
        self._received += len(data)
        self._since_body = 0 if self.size > size_before else self._since_body + len(data)
        if self.is_complete:
            return
        if self._since_body > limits.MAX_HEAD_BYTES:
            raise no_page(f"the head of its response has more than {limits.MAX_HEAD_BYTES} bytes")
        if self._received > limits.MAX_RESPONSE_BYTES:
            raise ScrapeError(
                ScrapeResult.TOO_COSTLY,
                f"its response has more than {limits.MAX_RESPONSE_BYTES} bytes",
            )

    def feed_end(self) -> None:
        """Take the end of the connection; raise ScrapeError unless that ends the body too."""
        if not self._ends_with_connection:
            raise no_page("it closes the connection before the end of its page")
        self.is_complete = True

    def body(self) -> bytes:
        """Return the body so far."""
        return b"".join(self._body)

    def close(self) -> None:
        """Release the parser and the body; the parser refers to this object."""
        del self._parser
        self._body = []

    # ---------------------------------------------------------------- called by the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer, which no header is read of any more."""
        self._count_header()
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        """Refuse a response whose head says that it is no page."""
        self._count_header()
        status, headers = self._parser.get_status_code(), self._headers
        self._headers = {}
        if _is_interim(status):
            return
        refusal = _find_refusal(status, headers)
        if refusal is None and not self._parser.get_http_version().startswith("1."):
            refusal = ScrapeResult.FAILED, "it sends no page: its response is not HTTP/1.1"
        if refusal is not None:
            self._refuse(*refusal)
        framing = headers.get("transfer-encoding", "identity").lower()
        self._ends_with_connection = framing == "identity" and "content-length" not in headers

    def on_chunk_header(self) -> None:
        """Count a chunk."""
        self._count_part()

    def on_body(self, data: bytes) -> None:
        """Take a part of the body."""
        self.size += len(data)
        if self.size > limits.MAX_PAGE_BYTES:
            self._refuse(
                ScrapeResult.TOO_COSTLY, f"its page has more than {limits.MAX_PAGE_BYTES} bytes"
            )
        self._body.append(data)

    def on_message_complete(self) -> None:
        """Stop at the end of the response, whatever follows it."""
        if not _is_interim(self._parser.get_status_code()):
            self.is_complete = True
            raise _StopParsingError

    # ---------------------------------------------------------------- limits

    def _count_part(self) -> None:
        self._parts += 1
        if self._parts > limits.MAX_CHUNKS:
            self._refuse(
                ScrapeResult.TOO_COSTLY, f"its page has more than {limits.MAX_CHUNKS} chunks"
            )

    def _count_header(self) -> None:
        self._header_count += 1
        if self._header_count > limits.MAX_HEADERS:
            self._refuse(
                ScrapeResult.FAILED,
                f"it sends no page: its response has more than {limits.MAX_HEADERS} headers",
            )

    def _refuse(self, result: ScrapeResult, why: str) -> NoReturn:
        self._refusal = result, why
        raise _StopParsingError


class _StopParsingError(Exception):
    pass


def no_page(why: str) -> ScrapeError:
    """Return the failure of a pod that sends no page, and *why*."""
    return ScrapeError(ScrapeResult.FAILED, f"it sends no page: {why}")


def _is_interim(status: int) -> bool:
    """Return whether another response follows. None does in HTTP/1.1 if the pod switches protocols."""
    return status < HTTPStatus.OK and status != HTTPStatus.SWITCHING_PROTOCOLS


def _find_refusal(status: int, headers: Mapping[str, str]) -> tuple[ScrapeResult, str] | None:
    """Return the result and why the response is no page; None if it may be one."""
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return ScrapeResult.UNUSABLE, "it redirects, which is not followed"
    if status != HTTPStatus.OK:
        return ScrapeResult.FAILED, f"it answers with HTTP {status}"
    is_plain = headers.get("content-encoding", "identity").lower() == "identity"
    framing = headers.get("transfer-encoding", "identity").lower()
    if not is_plain or framing not in _PLAIN_FRAMINGS:
        return ScrapeResult.UNUSABLE, "its page is compressed, which was not asked for"
    if is_html({"Content-Type": headers.get("content-type", "")}):
        return ScrapeResult.UNUSABLE, "its page is HTML"
    return None
