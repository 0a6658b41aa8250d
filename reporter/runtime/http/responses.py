"""
The responses of the HTTP server, and their heads as bytes. Pure.
"""

from collections.abc import Generator
from dataclasses import dataclass
from http import HTTPStatus


TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Response:
    """
    *body*: all of it, or its parts, which are sent as they are made.
    """

    status: HTTPStatus
    body: bytes | Generator[bytes, None, None]
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


def text_response(status: HTTPStatus, text: str = "", **headers: str) -> Response:
    """
    Return a line of text; without one, the phrase of the status.
    """
    body = f"{text or f'{status.value} {status.phrase}'}\n".encode()
    return Response(status, body, headers=tuple(headers.items()))


def encode_head(response: Response, *, keep_alive: bool, chunked: bool) -> bytes:
    """
    Return status line and headers. A body in parts is *chunked*, or ends with the connection.

    No header names the program or its version.
    """
    lines = [
        f"HTTP/1.1 {response.status.value} {response.status.phrase}",
        f"Content-Type: {response.content_type}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        *(f"{name}: {value}" for name, value in response.headers),
    ]
    if isinstance(response.body, bytes):
        lines.append(f"Content-Length: {len(response.body)}")
    elif chunked:
        lines.append("Transfer-Encoding: chunked")
    lines.append(f"Connection: {'keep-alive' if keep_alive else 'close'}")
    return "\r\n".join((*lines, "\r\n")).encode()


def encode_refusal(status: HTTPStatus) -> bytes:
    """
    Return a whole response after which the connection is closed.
    """
    response = text_response(status)
    head = encode_head(response, keep_alive=False, chunked=False)
    return head + (response.body if isinstance(response.body, bytes) else b"")


def encode_chunk(part: bytes) -> bytes:
    """
    Frame a part of a body; an empty one would end it (RFC 9112 section 7.1).
    """
    return b"%x\r\n%b\r\n" % (len(part), part) if part else b""


LAST_CHUNK = b"0\r\n\r\n"
