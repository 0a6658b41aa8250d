"""Every response maps to one of the KubeErrors, and no text contains a secret."""

import json
import ssl
from datetime import timedelta

import aiohttp
import pytest

from reporter.kube.api_status import MAX_RETRY_AFTER_SECONDS
from reporter.kube.error_mapping import (
    RequestInfo,
    response_error,
    watch_event_error,
)
from reporter.kube.errors import (
    Conflict,
    Expired,
    Invalid,
    NotFound,
    Refused,
    Throttled,
    Unreachable,
    Unserved,
)
from reporter.kube.transport_errors import transport_error


LIST = RequestInfo("list pods", "GET", "/api/v1/pods")
LIST_CUSTOM = RequestInfo("list", "GET", "/apis/kaito.sh/v1/workspaces", (("watch", "1"),))
READ = RequestInfo("read event", "GET", "/api/v1/namespaces/kube-system/events/x")
CREATE = RequestInfo("create event", "POST", "/api/v1/namespaces/kube-system/events")
HTML = {"Content-Type": "text/html; charset=utf-8"}


NOW, LATER = "Fri, 01 May 2026 12:00:00 GMT", "Fri, 01 May 2026 12:01:30 GMT"
LONGEST = timedelta(seconds=MAX_RETRY_AFTER_SECONDS)


def a_status(code, reason="", message="", **details):
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "metadata": {}}
    return json.dumps(
        status | {"code": code, "reason": reason, "message": message, "details": details}
    ).encode()


@pytest.mark.parametrize(
    ("asked", "status", "body", "expected"),
    [
        (LIST, 410, a_status(410, "Expired"), Expired),
        (CREATE, 409, a_status(409, "AlreadyExists"), Conflict),
        (READ, 404, a_status(404, "NotFound", name="x", kind="events"), NotFound),
        (READ, 404, b"404 page not found\n", NotFound),
        (CREATE, 404, a_status(404, "NotFound", name="kube-system", kind="namespaces"), NotFound),
        (LIST_CUSTOM, 404, b"404 page not found\n", Unserved),
        (LIST_CUSTOM, 404, a_status(404, "NotFound"), Unserved),
        (LIST_CUSTOM, 404, b"nothing here", Unreachable),
        (LIST, 401, a_status(401, "Unauthorized"), Refused),
        (LIST, 403, a_status(403, "Forbidden"), Refused),
        (LIST, 400, a_status(400, "BadRequest"), Invalid),
        (LIST, 405, b"", Invalid),
        (LIST, 415, a_status(415), Invalid),
        (LIST, 400, b"Client sent an HTTP request to an HTTPS server.\n", Unreachable),
        (CREATE, 413, b"too large", Unreachable),
        (CREATE, 413, a_status(413, "RequestEntityTooLarge"), Invalid),
        (LIST, 429, b"slow down", Throttled),
        (LIST, 500, a_status(500, "InternalError"), Unreachable),
        (LIST, 503, b"", Unreachable),
        (LIST, 301, b"", Unreachable),
    ],
)
def test_a_response_maps_to_the_error_that_decides_what_to_do(asked, status, body, expected):
    err = response_error(asked, status, {}, body)
    assert type(err) is expected
    assert err.status == status


INVALID_FIELD = {"reason": "FieldValueInvalid", "message": "too long", "field": "message"}
POLICY = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no"
WEBHOOK = 'admission webhook "w.example.com" denied the request'


@pytest.mark.parametrize("code", [400, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500])
@pytest.mark.parametrize("message", [f"{WEBHOOK}: no", f"{WEBHOOK} without explanation"])
def test_what_a_webhook_refused_is_refused_whatever_its_code(code, message):
    body = a_status(code, causes=[INVALID_FIELD], message=message)
    err = response_error(CREATE, code, {}, body)
    assert isinstance(err, Refused)
    assert (err.status, err.missing_permission, err.message) == (code, "", message)


@pytest.mark.parametrize("code", [403, 413, 422])
def test_what_a_policy_refused_is_refused_whatever_its_reason(code):
    message = f'events "x" is forbidden: {POLICY}'
    body = a_status(code, message=message, name="x", kind="events", causes=[{"message": POLICY}])
    err = response_error(CREATE, code, {}, body)
    assert isinstance(err, Refused)
    assert err.missing_permission == ""


def test_a_webhook_that_fails_has_not_let_the_write_through():
    message = 'Internal error occurred: failed calling webhook "w": connection refused'
    err = response_error(CREATE, 500, {}, a_status(500, "InternalError", message))
    assert isinstance(err, Refused)


def test_only_validation_that_names_fields_makes_a_write_invalid():
    ours = a_status(422, "Invalid", 'Event "x" is invalid: message: x', causes=[INVALID_FIELD])
    assert isinstance(response_error(CREATE, 422, {}, ours), Invalid)
    assert isinstance(response_error(CREATE, 422, {}, a_status(422, "Invalid")), Refused)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, Unreachable),
        (403, Refused),
        (404, Unreachable),
        (410, Unreachable),
        (429, Throttled),
        (502, Unreachable),
    ],
)
def test_a_page_of_a_proxy_proves_nothing_about_the_api(status, expected):
    page = b"<html><head><title>Bad Gateway</title></head><body><h1>oh</h1></body></html>"
    err = response_error(LIST, status, HTML, page)
    assert type(err) is expected
    assert err.message == "not a response of an API server: Bad Gateway"


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        (LIST, "list pods"),
        (LIST_CUSTOM, "watch workspaces.kaito.sh"),
        (READ, "get events"),
        (CREATE, "create events"),
        (
            RequestInfo("x", "PATCH", "/apis/apps/v1/namespaces/a/deployments/b/status"),
            "patch deployments.apps/status",
        ),
        (RequestInfo("x", "GET", "/api/v1/namespaces"), "list namespaces"),
        (RequestInfo("x", "GET", "/api/v1/namespaces/a"), "get namespaces"),
        (RequestInfo("x", "GET", "/apis"), "get /apis"),
    ],
)
def test_a_refusal_names_the_missing_permission(asked, missing):
    err = response_error(asked, 403, {}, a_status(403, "Forbidden", "no"))
    assert isinstance(err, Refused)
    assert err.missing_permission == missing


@pytest.mark.parametrize(
    "message",
    ["exceeded quota: q", "unable to create new content because it is being terminated"],
)
def test_an_exceeded_quota_is_no_missing_permission(message):
    err = response_error(CREATE, 403, {}, a_status(403, "Forbidden", message))
    assert isinstance(err, Refused)
    assert err.missing_permission == ""


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Retry-After": "7"}, b"", timedelta(seconds=7)),
        ({}, a_status(429, retryAfterSeconds=3), timedelta(seconds=3)),
        ({"Retry-After": LATER}, b"", None),
        ({"Retry-After": LATER, "Date": NOW}, b"", timedelta(seconds=90)),
        ({"Retry-After": NOW, "Date": LATER}, b"", None),
        ({"Retry-After": "-1"}, b"", None),
        ({"Retry-After": "0"}, b"", None),
        ({"Retry-After": "1.5"}, b"", None),
        ({"Retry-After": "NaN"}, b"", None),
        ({"Retry-After": "inf"}, b"", None),
        ({"Retry-After": "\u0663"}, b"", None),
        ({"Retry-After": "soon"}, a_status(429, retryAfterSeconds=3), timedelta(seconds=3)),
        ({}, a_status(429, retryAfterSeconds=-3), None),
        ({"Retry-After": "9" * 5000}, b"", LONGEST),
        ({}, a_status(429, retryAfterSeconds=10**15), LONGEST),
        ({"Retry-After": "Fri, 31 Dec 8999 23:59:59 GMT", "Date": NOW}, b"", LONGEST),
        ({}, b"", None),
    ],
)
def test_the_pause_that_the_server_asks_for_is_kept(headers, body, expected):
    err = response_error(LIST, 429, headers, body)
    assert isinstance(err, Throttled)
    assert err.retry_after == expected


@pytest.mark.parametrize(
    ("status", "arrived"), [(500, True), (504, True), (503, False), (400, False)]
)
def test_a_failed_write_may_have_arrived_unless_the_server_was_unavailable(status, arrived):
    err = response_error(CREATE, status, {}, b"")
    assert isinstance(err, Unreachable)
    assert err.may_have_applied is arrived


@pytest.mark.parametrize(
    ("cause", "arrived"),
    [
        (aiohttp.ServerDisconnectedError(), True),
        (aiohttp.SocketTimeoutError(), True),
        (TimeoutError(), True),
        (ConnectionResetError("reset"), True),
        (aiohttp.ConnectionTimeoutError(), False),
        (ValueError("Forbidden control character detected in headers"), False),
        (ssl.SSLCertVerificationError("certificate verify failed"), False),
    ],
)
def test_a_transport_failure_records_whether_the_request_may_have_arrived(cause, arrived):
    err = transport_error(CREATE, cause)
    assert err.may_have_applied is arrived
    assert err.status == 0
    assert err.message


@pytest.mark.parametrize(
    ("cause", "text"),
    [(TimeoutError(), "timed out"), (aiohttp.ConnectionTimeoutError(), "connecting timed out")],
)
def test_a_timeout_tells_whether_there_was_a_connection(cause, text):
    assert transport_error(CREATE, cause).message == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (a_status(410, "Expired", "too old"), Expired),
        (a_status(0, "Gone"), Expired),
        (a_status(403, "Forbidden"), Refused),
        (a_status(429), Throttled),
        (a_status(0, "", "storage feature RequestWatchProgress is disabled"), Unreachable),
        (b'"oops"', Unreachable),
    ],
)
def test_an_error_event_is_translated_like_an_answer(raw, expected):
    assert type(watch_event_error(LIST, raw)) is expected


def test_an_error_reads_as_one_line():
    err = response_error(LIST, 403, {}, a_status(403, "Forbidden", "pods is\nforbidden"))
    assert str(err) == "list pods: HTTP 403: pods is forbidden"


FORBIDDEN = b'{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}'


@pytest.mark.parametrize(
    ("status", "body", "is_forbidden"),
    [(403, FORBIDDEN, True), (403, b"denied by policy", False), (401, FORBIDDEN, False)],
)
def test_only_a_status_of_the_api_server_forbids(status, body, is_forbidden):
    request = RequestInfo("list pods", "GET", "/api/v1/pods")
    error = response_error(request, status, {}, body)
    assert isinstance(error, Refused)
    assert error.is_forbidden is is_forbidden
    assert bool(error.missing_permission) is is_forbidden
