"""
Parse the one HTTP response on a connection that its server was asked to close. Pure.

A client for all of HTTP takes more than twice the processor time of this one for a page, and a cluster
has 8,000 pages a minute. Format: RFC 9112. The server may be hostile: each byte is looked at once.
"""

import re
from collections.abc import Mapping

from msgspec import Struct, field


MAX_HEAD_BYTES = 32 * 1024

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*")
_CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,256})?\r\n")
MAX_CHUNK_HEAD = 8 + 256 + 16


class MalformedResponseError(Exception):
    """A response that is none, or is cut off."""


class PageResponse(Struct):
    """
    The response as far as it was fed.

    *status*: 0 until the head is whole. *headers*: by their names in small letters. *parts*: how many pieces
    and chunks it came in.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    parts: int = 0
    _raw: bytearray = field(default_factory=bytearray)
    _searched: int = 0
    _length: int | None = None
    _is_chunked: bool = False
    _chunk_left: int = 0

    def feed(self, data: bytes) -> bool:
        """Add bytes, and return whether the response is whole. Raise MalformedResponseError."""
        self.parts += 1
        if self.status and not self._is_chunked:
            self.body += data
        else:
            self._raw += data
            if not self.status and not self._parse_head():
                return False
            if self._is_chunked:
                return self._take_chunks()
            self.body += self._raw
            self._raw.clear()
        if self._length is None or len(self.body) < self._length:
            return False
        del self.body[self._length :]
        return True

    def end(self) -> None:
        """Raise MalformedResponseError unless the response is whole now that the server closed."""
        if not self.status:
            raise MalformedResponseError("the connection was closed before a response")
        if self._is_chunked or self._length is not None:
            raise MalformedResponseError("the response is cut off")

    def _parse_head(self) -> bool:
        end = self._raw.find(b"\r\n\r\n", self._searched)
        if end < 0:
            self._searched = max(len(self._raw) - 3, 0)
            if self._searched > MAX_HEAD_BYTES:
                raise MalformedResponseError("its head is too long")
            return False
        first, *lines = bytes(self._raw[:end]).split(b"\r\n")
        status = _STATUS_LINE.fullmatch(first)
        headers = [_HEADER.fullmatch(line) for line in lines]
        if status is None or None in headers:
            raise MalformedResponseError("it is not HTTP/1")
        found = (each for each in headers if each is not None)
        self.headers = {each[1].decode().lower(): each[2].decode("latin-1") for each in found}
        self.status = int(status[1])
        del self._raw[: end + 4]
        self._find_framing()
        return True

    def _find_framing(self) -> None:
        coding = self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length", "")
        if coding not in {"", "chunked"} or (length and not re.fullmatch("[0-9]{1,15}", length)):
            raise MalformedResponseError("it does not tell how long it is")
        self._is_chunked = coding == "chunked"
        self._length = int(length) if length and not coding else None

    def _take_chunks(self) -> bool:
        """Move the chunks that are there to the body, and return whether the last one was."""
        raw, at = self._raw, 0
        while True:
            # A chunk ends with a line end, which is counted to it and is not part of the body.
            if self._chunk_left:
                part = raw[at : at + self._chunk_left]
                at += len(part)
                self.body += part[: max(self._chunk_left - 2, 0)]
                self._chunk_left -= len(part)
                if self._chunk_left:
                    break
            head = _CHUNK_HEAD.match(raw, at)
            if head is None:
                if len(raw) - at > MAX_CHUNK_HEAD:
                    raise MalformedResponseError("its chunks are malformed")
                break
            self.parts += 1
            at = head.end()
            size = int(head[1], 16)
            if not size:
                return True
            self._chunk_left = size + 2
        del raw[:at]
        return False
