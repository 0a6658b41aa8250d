"""
Parse an HTTP/1 response whose sender may be hostile. Pure.

The work is bounded by counts: bytes of head and body, and chunks. A client library has no limit of
chunks, and takes a second for a page of a mebibyte that is sent in chunks of one byte.
Rules: RFC 9112.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus

from reporter.kube.scrape.limits import MAX_CHUNKS, MAX_HEAD_BYTES, MAX_PAGE_BYTES


_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/1\.[0-9] ([1-9][0-9]{2})(?: .*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,7})[ \t]*(?:;.*)?")
_LENGTH = re.compile(r"[0-9]{1,15}")
MAX_CHUNK_LINE_BYTES = 256


class MalformedResponse(Exception):
    """
    What was received is not HTTP, or not in a form that servers of metrics use.
    """


class OversizedResponse(Exception):
    """
    The response has more of something than is read.
    """


class ResponseParser:
    """
    The response as far as it was received. *status* is None until the head is whole.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.is_whole = False
        self._body = bytearray()
        self._buffer = bytearray()
        self._head_bytes = self._chunks = 0
        self._left: int | None = None
        self._is_chunked = False

    @property
    def size(self) -> int:
        """
        The bytes that are kept, also those of a chunk that is not whole.
        """
        return len(self._body) + len(self._buffer)

    def take_body(self) -> bytes:
        return bytes(self._body)

    def feed(self, data: bytes) -> None:
        """
        Add what was received. Raises MalformedResponse and OversizedResponse.
        """
        if self.status is None:
            self._buffer += data
            if not self._take_head():
                return
            data, self._buffer = bytes(self._buffer), bytearray()
        if self._is_chunked:
            self._buffer += data
            self._feed_chunks()
        else:
            self._feed_body(data)

    def end(self) -> None:
        """
        Take the end of the connection, which also ends a body of unknown length.
        """
        if self.status is not None and not self._is_chunked and self._left is None:
            self.is_whole = True
        if not self.is_whole:
            raise MalformedResponse("it ends too early")

    def _take_head(self) -> bool:
        """
        Take a head if it is whole; interim responses (1xx) before it are skipped.
        """
        while True:
            end = _HEAD_END.search(self._buffer)
            size = len(self._buffer) if end is None else end.end()
            if self._head_bytes + size > MAX_HEAD_BYTES:
                raise OversizedResponse(f"its head has more than {MAX_HEAD_BYTES} bytes")
            if end is None:
                return False
            status, headers = _parse_head(bytes(self._buffer[: end.start()]))
            self._head_bytes += size
            del self._buffer[:size]
            if status >= HTTPStatus.OK:
                self.status, self.headers = status, headers
                self._frame()
                return True

    def _frame(self) -> None:
        """
        Determine how the end of the body is found (RFC 9112 section 6.3).
        """
        coding = self.headers.get("transfer-encoding")
        length = self.headers.get("content-length")
        if coding is not None:
            if coding.lower() != "chunked":
                raise MalformedResponse("its transfer encoding is not known")
            self._is_chunked = True
        elif length is not None:
            if _LENGTH.fullmatch(length) is None:
                raise MalformedResponse("its length is not a number")
            self._left = int(length)
            self._check_size(self._left)
            self.is_whole = self._left == 0

    def _feed_body(self, data: bytes) -> None:
        self._check_size(len(self._body) + len(data))
        self._body += data if self._left is None else data[: self._left]
        if self._left is not None:
            self._left = max(self._left - len(data), 0)
            self.is_whole = self._left == 0

    def _feed_chunks(self) -> None:
        """
        Take the whole chunks that are in the buffer; the trailers after the last are not read.
        """
        at, buffer = 0, self._buffer
        while not self.is_whole:
            end = buffer.find(b"\n", at, at + MAX_CHUNK_LINE_BYTES)
            if end < 0:
                if len(buffer) - at >= MAX_CHUNK_LINE_BYTES:
                    raise MalformedResponse("its chunks have no size")
                break
            found = _CHUNK_SIZE.fullmatch(buffer[at:end].removesuffix(b"\r"))
            if found is None:
                raise MalformedResponse("its chunks have no size")
            size = int(found[1], 16)
            self._check_size(len(self._body) + size)
            stop = end + 1 + size
            if size and len(buffer) < stop + 2:
                break
            self._count_chunk()
            if size and buffer[stop : stop + 2] != b"\r\n":
                raise MalformedResponse("its chunks are not as long as they say")
            self._body += buffer[end + 1 : stop]
            self.is_whole = size == 0
            at = stop + 2
        del buffer[:at]

    def _count_chunk(self) -> None:
        self._chunks += 1
        if self._chunks > MAX_CHUNKS:
            raise OversizedResponse(f"its page has more than {MAX_CHUNKS} chunks")

    @staticmethod
    def _check_size(size: int) -> None:
        if size > MAX_PAGE_BYTES:
            raise OversizedResponse(f"its page has more than {MAX_PAGE_BYTES} bytes")


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    """
    Return the status and the headers by their names in lower case.
    """
    first, *rest = (line.removesuffix(b"\r") for line in head.split(b"\n"))
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        raise MalformedResponse("it does not speak HTTP/1")
    headers: dict[str, str] = {}
    for line in rest:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise MalformedResponse("its head is malformed")
        name, value = found[1].decode().lower(), found[2].decode("latin-1")
        if headers.setdefault(name, value) != value and name in {
            "content-length",
            "transfer-encoding",
        }:
            raise MalformedResponse(f"it has two values of {name}")
    return int(status[1]), headers
