"""
Answers and transport failures turned into the closed set of errors; nothing else makes these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from reporter.kube.errors import (
    Conflict,
    Expired,
    Invalid,
    KubeError,
    NotFound,
    Refused,
    Throttled,
    Unreachable,
    Unserved,
)
from reporter.kube.paths import Query, names_object, right
from reporter.kube.redaction import clean
from reporter.kube.statuses import Status, read_status, retry_after


TRANSPORT_FAILURES = (
    aiohttp.ClientError,
    HttpProcessingError,
    TimeoutError,
    OSError,  # ssl.SSLError is one
    ValueError,  # of header values and URLs that cannot be sent
)

_NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    ValueError,
)

NOT_SERVED = b"404 page not found"
"""
The text, not a Status, with which an API server answers a path that it does not have.
"""

_SIMPLE: Mapping[int, type[KubeError]] = {
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.GONE: Expired,
    HTTPStatus.BAD_REQUEST: Invalid,
    HTTPStatus.METHOD_NOT_ALLOWED: Invalid,
    HTTPStatus.NOT_ACCEPTABLE: Invalid,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Invalid,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: Invalid,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
}

_NOT_ABOUT_RIGHTS = ("exceeded quota", "being terminated")


@dataclass(frozen=True, slots=True)
class Asked:
    """
    A request, as far as an error about it needs to know.
    """

    doing: str
    method: str = "GET"
    path: str = ""
    query: Query = field(default=(), repr=False)

    @property
    def right(self) -> str:
        return right(self.method, self.path, self.query)


def failure(asked: Asked, status: int, headers: Mapping[str, str], body: bytes) -> KubeError:
    """
    The error that an answer other than success stands for.
    """
    said = read_status(body)
    if said is None and (is_page(headers) or _looks_like_page(body)):
        return of_a_stranger(asked, status, headers, body)
    message = clean(body if said is None else said.text)
    match status:
        case HTTPStatus.NOT_FOUND:
            return _missing(asked, said, body, message)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return _refused(asked, status, message)
        case _ if status in _SIMPLE:
            return _SIMPLE[status](asked.doing, status=status, message=message)
        case _:
            return _unusable(asked, status, message, retry_after(headers, said))


def watch_failure(asked: Asked, raw: bytes) -> KubeError:
    """
    The error that an ERROR event stands for; its object is a Status.
    """
    said = read_status(raw)
    if said is None:
        message = f"ERROR event without a Status: {clean(raw)}"
        return Unreachable(asked.doing, status=HTTPStatus.OK, message=message, arrived=True)
    if said.reason in {"Expired", "Gone"}:
        return Expired(asked.doing, status=HTTPStatus.GONE, message=clean(said.text))
    return failure(asked, said.code or HTTPStatus.INTERNAL_SERVER_ERROR, {}, raw)


def no_answer(asked: Asked, err: BaseException) -> Unreachable:
    """
    The error for one of TRANSPORT_FAILURES.
    """
    sent = not isinstance(err, _NEVER_SENT)
    if isinstance(err, TimeoutError):
        message = "timed out" if sent else "connecting timed out"
    else:
        message = clean(str(err)) or type(err).__name__
    return Unreachable(asked.doing, message=message, arrived=sent)


def of_a_stranger(asked: Asked, status: int, headers: Mapping[str, str], body: bytes) -> KubeError:
    """
    The error for a page: a proxy or balancer answered, perhaps in place of the API server.
    """
    message = f"not an answer of an API server: {clean(body)}"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Refused(asked.doing, status=status, message=message)
    return _unusable(asked, status, message, retry_after(headers, None))


def is_page(headers: Mapping[str, str]) -> bool:
    return "text/html" in headers.get("Content-Type", "").lower()


def _looks_like_page(body: bytes) -> bool:
    return body[:64].lstrip().lower().startswith((b"<!doctype", b"<html"))


def _unusable(
    asked: Asked, status: int, message: str, pause: timedelta | None
) -> Throttled | Unreachable:
    """
    503 is the one 5xx by which a server says that it has not begun to work on the request.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Throttled(asked.doing, status=status, message=message, retry_after=pause)
    return Unreachable(
        asked.doing,
        status=status,
        message=message,
        retry_after=pause,
        arrived=status != HTTPStatus.SERVICE_UNAVAILABLE,
    )


def _missing(asked: Asked, said: Status | None, body: bytes, message: str) -> KubeError:
    """
    A 404 that neither is a Status nor has the API server's own text proves nothing.
    """
    status = HTTPStatus.NOT_FOUND
    if said is None and NOT_SERVED not in body:
        return Unreachable(asked.doing, status=status, message=message, arrived=True)
    if (said is not None and said.object) or names_object(asked.path):
        return NotFound(asked.doing, status=status, message=message)
    return Unserved(asked.doing, status=status, message=message)


def _refused(asked: Asked, status: int, message: str) -> Refused:
    about_rights = status == HTTPStatus.FORBIDDEN and not any(
        text in message for text in _NOT_ABOUT_RIGHTS
    )
    return Refused(
        asked.doing,
        status=status,
        message=message,
        missing_right=asked.right if about_rights else "",
    )
