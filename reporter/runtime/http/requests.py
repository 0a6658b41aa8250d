"""
Parse the heads of HTTP requests. Pure.

Anyone who reaches the port may send anything. So the parser takes little: HTTP/1.0 and 1.1, a head
of limited size, no body. Rules: RFC 9112.
"""

import re
from dataclasses import dataclass
from enum import IntEnum, unique


MAX_HEAD_BYTES = 16 * 1024
"""
Request line and headers together. An API server that proxies adds some; a bearer token has 1 to 2 KiB.
"""

_HEAD_END = re.compile(rb"\n\r?\n")
"""
RFC 9112 section 2.2 lets a server take a line feed alone for the end of a line.
"""

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rb"(%s) ([!-~]+) HTTP/([0-9])\.([0-9])" % _TOKEN)
_LINE_START = re.compile(rb"(?:%s(?: [!-~]*(?: [!-~]*\r?)?)?)?" % _TOKEN)
_HEADER = re.compile(rb"(%s):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)" % _TOKEN)
_ABSOLUTE = re.compile(r"https?://[^/?#]*", re.IGNORECASE)


@unique
class Refusal(IntEnum):
    """
    The status codes for requests whose head is not taken.
    """

    MALFORMED = 400
    HEAD_TOO_LARGE = 431
    VERSION_NOT_SUPPORTED = 505


@dataclass(frozen=True, slots=True)
class Request:
    """
    A request of which only the head is read.

    *path*: without the query. *keeps_alive*: the client lets the connection carry another request.
    *takes_chunks*: HTTP/1.1, so that the length of an answer need not be known.
    """

    method: str
    path: str
    keeps_alive: bool
    takes_chunks: bool


@dataclass(frozen=True, slots=True)
class TakenHead:
    """
    A request or why there is none, and the number of bytes that its head had.
    """

    request: Request | Refusal
    length: int


def take_head(received: bytes | bytearray) -> TakenHead | None:
    """
    Parse the first head of what was received; None as long as it is incomplete.
    """
    start = _skip_empty_lines(received)
    end = _HEAD_END.search(received, start)
    if (len(received) if end is None else end.end()) > MAX_HEAD_BYTES:
        return TakenHead(Refusal.HEAD_TOO_LARGE, len(received))
    if end is not None:
        return TakenHead(_parse_head(bytes(received[start : end.start()])), end.end())
    if _cannot_become_a_request(bytes(received[start:])):
        return TakenHead(Refusal.MALFORMED, len(received))
    return None


def _skip_empty_lines(received: bytes | bytearray) -> int:
    """
    Return where the request line starts: RFC 9112 section 2.2 ignores empty lines before it.
    """
    return len(received) - len(received.lstrip(b"\r\n"))


def _cannot_become_a_request(received: bytes) -> bool:
    """
    Return whether more bytes cannot help: a TLS client, or HTTP/0.9, whose requests have one line.
    """
    line, end, _ = received.partition(b"\n")
    if end:
        return _REQUEST_LINE.fullmatch(line.removesuffix(b"\r")) is None
    return _LINE_START.fullmatch(line) is None


def _parse_head(head: bytes) -> Request | Refusal:
    first, *rest = (line.removesuffix(b"\r") for line in head.split(b"\n"))
    line = _REQUEST_LINE.fullmatch(first)
    headers = _parse_headers(rest)
    if line is None or headers is None:
        return Refusal.MALFORMED
    major, minor = int(line[3]), int(line[4])
    if major != 1:
        return Refusal.VERSION_NOT_SUPPORTED
    if minor and len(headers.get(b"host", ())) != 1:
        return Refusal.MALFORMED  # RFC 9112 section 3.2
    return Request(
        method=line[1].decode(),
        path=_path_of(line[2].decode()),
        keeps_alive=_keeps_alive(headers, by_default=minor > 0),
        takes_chunks=minor > 0,
    )


def _parse_headers(lines: list[bytes]) -> dict[bytes, list[bytes]] | None:
    headers: dict[bytes, list[bytes]] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            return None
        headers.setdefault(found[1].lower(), []).append(found[2].strip(b" \t"))
    return headers


def _keeps_alive(headers: dict[bytes, list[bytes]], *, by_default: bool) -> bool:
    """
    Return whether the connection can carry another request: a body, which is not read, ends it.
    """
    if b"transfer-encoding" in headers or set(headers.get(b"content-length", ())) - {b"0"}:
        return False
    options = {
        option.strip(b" \t").lower()
        for value in headers.get(b"connection", ())
        for option in value.split(b",")
    }
    return b"close" not in options and (by_default or b"keep-alive" in options)


def _path_of(target: str) -> str:
    """
    Take the path out of the origin form or the absolute form (RFC 9112 section 3.2).
    """
    found = _ABSOLUTE.match(target)
    path = target[found.end() :] if found is not None else target
    return path.partition("?")[0] or "/"
