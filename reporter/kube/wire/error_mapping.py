"""
Answers and transport failures turned into the closed set of errors; nothing else makes these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from reporter.kube.wire.api_status import Status, decode_status, parse_retry_after
from reporter.kube.wire.errors import (
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
from reporter.kube.wire.paths import Query, is_object_path, required_permission
from reporter.kube.wire.plain_text import clean


TRANSPORT_ERRORS = (
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

NOT_SERVED_TEXT = b"404 page not found"
"""
The text, not a Status, with which an API server answers a path that it does not have.
"""

_ERROR_BY_STATUS: Mapping[int, type[KubeError]] = {
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.GONE: Expired,
    HTTPStatus.BAD_REQUEST: Invalid,
    HTTPStatus.METHOD_NOT_ALLOWED: Invalid,
    HTTPStatus.NOT_ACCEPTABLE: Invalid,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Invalid,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: Invalid,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
}

_NOT_ABOUT_PERMISSIONS = ("exceeded quota", "being terminated")


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """
    A request, as far as an error about it needs to know.
    """

    operation: str
    method: str = "GET"
    path: str = ""
    query: Query = field(default=(), repr=False)

    @property
    def required_permission(self) -> str:
        return required_permission(self.method, self.path, self.query)


def response_error(
    asked: RequestInfo, status: int, headers: Mapping[str, str], body: bytes
) -> KubeError:
    """
    The error that an answer other than success stands for.
    """
    said = decode_status(body)
    if said is None and (is_html(headers) or _is_html_body(body)):
        return proxy_error(asked, status, headers, body)
    message = clean(body if said is None else said.text)
    match status:
        case HTTPStatus.NOT_FOUND:
            return _not_found_error(asked, said, body, message)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return _refused_error(asked, status, message)
        case _ if status in _ERROR_BY_STATUS:
            return _ERROR_BY_STATUS[status](asked.operation, status=status, message=message)
        case _:
            return _throttled_or_unreachable(
                asked, status, message, parse_retry_after(headers, said)
            )


def watch_event_error(asked: RequestInfo, raw: bytes) -> KubeError:
    """
    The error that an ERROR event stands for; its object is a Status.
    """
    said = decode_status(raw)
    if said is None:
        message = f"ERROR event without a Status: {clean(raw)}"
        return Unreachable(
            asked.operation, status=HTTPStatus.OK, message=message, may_have_applied=True
        )
    if said.reason in {"Expired", "Gone"}:
        return Expired(asked.operation, status=HTTPStatus.GONE, message=clean(said.text))
    return response_error(asked, said.code or HTTPStatus.INTERNAL_SERVER_ERROR, {}, raw)


def transport_error(asked: RequestInfo, err: BaseException) -> Unreachable:
    """
    The error for one of TRANSPORT_FAILURES.
    """
    sent = not isinstance(err, _NEVER_SENT)
    if isinstance(err, TimeoutError):
        message = "timed out" if sent else "connecting timed out"
    else:
        message = clean(str(err)) or type(err).__name__
    return Unreachable(asked.operation, message=message, may_have_applied=sent)


def proxy_error(
    asked: RequestInfo, status: int, headers: Mapping[str, str], body: bytes
) -> KubeError:
    """
    The error for a page: a proxy or balancer answered, perhaps in place of the API server.
    """
    message = f"not an answer of an API server: {clean(body)}"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Refused(asked.operation, status=status, message=message)
    return _throttled_or_unreachable(asked, status, message, parse_retry_after(headers, None))


def is_html(headers: Mapping[str, str]) -> bool:
    return "text/html" in headers.get("Content-Type", "").lower()


def _is_html_body(body: bytes) -> bool:
    return body[:64].lstrip().lower().startswith((b"<!doctype", b"<html"))


def _throttled_or_unreachable(
    asked: RequestInfo, status: int, message: str, pause: timedelta | None
) -> Throttled | Unreachable:
    """
    503 is the one 5xx by which a server says that it has not begun to work on the request.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Throttled(asked.operation, status=status, message=message, retry_after=pause)
    return Unreachable(
        asked.operation,
        status=status,
        message=message,
        retry_after=pause,
        may_have_applied=status != HTTPStatus.SERVICE_UNAVAILABLE,
    )


def _not_found_error(
    asked: RequestInfo, said: Status | None, body: bytes, message: str
) -> KubeError:
    """
    A 404 that neither is a Status nor has the API server's own text proves nothing.
    """
    status = HTTPStatus.NOT_FOUND
    if said is None and NOT_SERVED_TEXT not in body:
        return Unreachable(asked.operation, status=status, message=message, may_have_applied=True)
    if (said is not None and said.object_name) or is_object_path(asked.path):
        return NotFound(asked.operation, status=status, message=message)
    return Unserved(asked.operation, status=status, message=message)


def _refused_error(asked: RequestInfo, status: int, message: str) -> Refused:
    about_rights = status == HTTPStatus.FORBIDDEN and not any(
        text in message for text in _NOT_ABOUT_PERMISSIONS
    )
    return Refused(
        asked.operation,
        status=status,
        message=message,
        missing_permission=asked.required_permission if about_rights else "",
    )
