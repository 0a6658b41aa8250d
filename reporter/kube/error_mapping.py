"""
Map responses to the closed set of KubeErrors.

A webhook chooses its code and reason (400 by default), and so does a ValidatingAdmissionPolicy (422
Invalid by default), so only the text says who refused. Validation of the object itself always names
the fields. Sources: k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go,
pkg/admission/plugin/policy/validating/dispatcher.go; k8s.io/apimachinery, pkg/api/errors (NewInvalid).
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

from msgspec import Struct

from reporter.kube import paths
from reporter.kube.api_status import Status, decode_status, parse_retry_after
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
from reporter.kube.plain_text import clean


_REFUSED_BY_ADMISSION = re.compile(
    r"^admission webhook \".*\" (?:denied the request|attempted to modify the object)"
    r"|failed (?:calling|to call) webhook"
    r"|(?:Validating|Mutating)AdmissionPolicy '.*' with binding '"
    r"|^(?:[^:]*: )?policy '.*' with binding '",
    re.DOTALL,
)


def is_admission_refusal(status: Status, code: int) -> bool:
    """
    Return whether a webhook or policy refused, or could not be asked.

    A 422 without the fields that are invalid is not from validation.
    """
    if _REFUSED_BY_ADMISSION.search(status.message or ""):
        return True
    return code == HTTPStatus.UNPROCESSABLE_ENTITY and not status.has_invalid_fields


NOT_SERVED_TEXT = b"404 page not found"
"""The body, not a Status, of an API server's response to a path that it does not serve."""

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

_FROM_OTHERS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})
"""
Statuses that load balancers and proxies send as well, in plain text: only a Status is conclusive.
"""

# Admission answers 403 for these as well, which no RBAC rule can change.
_NOT_ABOUT_PERMISSIONS = ("exceeded quota", "being terminated")


class RequestInfo(Struct, frozen=True):
    """The parts of a request that errors name. *operation*: what it does, as "list pods"."""

    operation: str
    method: str = "GET"
    path: str = ""
    query: paths.Query = ()

    @property
    def required_permission(self) -> str:
        """
        The permission that RBAC asks for, as "list deployments.apps"; Refused carries it after a 403.
        """
        return paths.required_permission(self.method, self.path, self.query)

    @property
    def verb(self) -> str:
        """
        The verb as in the API server's audit log (get, list, watch, …), by which requests are counted.
        """
        return paths.request_verb(self.method, self.path, self.query)


def response_error(
    request: RequestInfo, status: int, headers: Mapping[str, str], body: bytes
) -> KubeError:
    """
    Map a response other than success to a KubeError, by its HTTP status and the Status in its body.
    """
    api_status = decode_status(body)
    error = _response_error(request, status, headers, body, api_status)
    error.is_from_api_server = api_status is not None
    return error


def _response_error(
    request: RequestInfo,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    api_status: Status | None,
) -> KubeError:
    if api_status is None and (is_html(headers) or _is_html_body(body)):
        return proxy_error(request, status, headers, body)
    message = clean(body if api_status is None else api_status.text)
    if api_status is not None and is_admission_refusal(api_status, status):
        return Refused(request.operation, status=status, message=message)
    match status:
        case HTTPStatus.NOT_FOUND:
            return _not_found_error(request, api_status, body, message)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return _refused_error(request, status, message, is_status=api_status is not None)
        case _ if api_status is None and status in _FROM_OTHERS:
            return _throttled_or_unreachable(request, status, message, None)
        case _ if status in _ERROR_BY_STATUS:
            return _ERROR_BY_STATUS[status](request.operation, status=status, message=message)
        case _:
            return _throttled_or_unreachable(
                request, status, message, parse_retry_after(headers, api_status)
            )


def watch_event_error(request: RequestInfo, raw: bytes) -> KubeError:
    """
    Map an ERROR event of a watch to an error: Expired if its Status says so; Unreachable without one.
    """
    api_status = decode_status(raw)
    if api_status is None:
        message = f"ERROR event without a Status: {clean(raw)}"
        return Unreachable(
            request.operation, status=HTTPStatus.OK, message=message, may_have_applied=True
        )
    if api_status.reason in {"Expired", "Gone"}:
        return Expired(request.operation, status=HTTPStatus.GONE, message=clean(api_status.text))
    return response_error(request, api_status.code or HTTPStatus.INTERNAL_SERVER_ERROR, {}, raw)


def proxy_error(
    request: RequestInfo, status: int, headers: Mapping[str, str], body: bytes
) -> KubeError:
    """Map an HTML page, which a proxy or load balancer sent in place of the API server."""
    message = f"not a response of an API server: {clean(body)}"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Refused(request.operation, status=status, message=message)
    return _throttled_or_unreachable(request, status, message, parse_retry_after(headers, None))


def is_html(headers: Mapping[str, str]) -> bool:
    """
    Return whether the Content-Type is text/html, as no API server sends it.

    A proxy or a login page then answered in its place, whatever the status.
    """
    return "text/html" in headers.get("Content-Type", "").lower()


def _is_html_body(body: bytes) -> bool:
    return body[:64].lstrip().lower().startswith((b"<!doctype", b"<html"))


def _throttled_or_unreachable(
    request: RequestInfo, status: int, message: str, retry_after: timedelta | None
) -> Throttled | Unreachable:
    """
    Map 429, 5xx and unknown statuses, and keep the Retry-After of the response.

    A 4xx, which is a load balancer's here, and 503 mean that the request was not carried out.
    """
    from_others = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Throttled(
            request.operation, status=status, message=message, retry_after=retry_after
        )
    return Unreachable(
        request.operation,
        status=status,
        message=message,
        retry_after=retry_after,
        may_have_applied=status != HTTPStatus.SERVICE_UNAVAILABLE and not from_others,
    )


def _not_found_error(
    request: RequestInfo, api_status: Status | None, body: bytes, message: str
) -> KubeError:
    """Map a 404, which proves that something is missing only if the API server itself sent it."""
    status = HTTPStatus.NOT_FOUND
    if api_status is None and NOT_SERVED_TEXT not in body:
        return Unreachable(
            request.operation, status=status, message=message, may_have_applied=True
        )
    if (api_status is not None and api_status.object_name) or paths.is_object_path(request.path):
        return NotFound(request.operation, status=status, message=message)
    return Unserved(request.operation, status=status, message=message)


def _refused_error(request: RequestInfo, status: int, message: str, *, is_status: bool) -> Refused:
    # A proxy that forbids in its own words knows nothing of RBAC.
    is_forbidden = is_status and status == HTTPStatus.FORBIDDEN
    about_permissions = is_forbidden and not any(
        text in message for text in _NOT_ABOUT_PERMISSIONS
    )
    return Refused(
        request.operation,
        status=status,
        message=message,
        missing_permission=request.required_permission if about_permissions else "",
        is_forbidden=is_forbidden,
    )
