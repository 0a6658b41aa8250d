"""
Heads of requests that are taken, and those that are refused.
"""

import pytest

from reporter.runtime.http.requests import (
    MAX_HEAD_BYTES,
    Refusal,
    Request,
    TakenHead,
    take_head,
)


GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


def taken(received: bytes) -> Request:
    head = take_head(received)
    assert head is not None
    assert isinstance(head.request, Request), head.request
    return head.request


def refusal(received: bytes) -> Refusal:
    head = take_head(received)
    assert head is not None
    assert isinstance(head.request, Refusal), head.request
    return head.request


def test_a_head_is_taken_as_soon_as_it_is_whole():
    for end in range(len(GET)):
        assert take_head(GET[:end]) is None
    expected = Request("GET", "/livez", keeps_alive=True, takes_chunks=True)
    assert take_head(GET + b"GET /next") == TakenHead(expected, len(GET))


def test_empty_lines_before_a_request_and_line_feeds_alone_are_allowed():
    assert taken(b"\r\n\r\n" + GET) == taken(GET) == taken(GET.replace(b"\r", b""))


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/status", "/status"),
        ("/status?pretty=1", "/status"),
        ("http://10.0.0.1:8081/status", "/status"),
        ("http://reporter", "/"),
        ("http://reporter?x", "/"),
        ("*", "*"),
        ("//status", "//status"),
    ],
)
def test_the_path_is_taken_from_each_form_of_a_target(target: str, path: str):
    assert taken(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode()).path == path


@pytest.mark.parametrize(
    ("version", "headers", "expected"),
    [
        ("1.1", "", True),
        ("1.1", "Connection: close\r\n", False),
        ("1.1", "connection: TE , Close\r\n", False),
        ("1.0", "", False),
        ("1.0", "Connection: Keep-Alive\r\n", True),
        ("1.1", "Content-Length: 0\r\n", True),
        ("1.1", "Content-Length: 5\r\n", False),
        ("1.1", "Content-Length: 0\r\nContent-Length: 5\r\n", False),
        ("1.1", "Content-Length: -1\r\n", False),
        ("1.1", "Transfer-Encoding: chunked\r\n", False),
        ("1.0", "Connection: keep-alive\r\nTransfer-Encoding: x\r\n", False),
    ],
)
def test_a_connection_carries_another_request_if_both_agree_and_there_is_no_body(
    version, headers, expected
):
    head = f"GET / HTTP/{version}\r\nHost: a\r\n{headers}\r\n"
    assert taken(head.encode()).keeps_alive is expected


@pytest.mark.parametrize(
    "received",
    [
        b"GET /livez\r\n",  # HTTP/0.9
        b"GET /livez\n",
        b"GET  /livez HTTP/1.1\r\n",
        b"GET /livez HTTP/1.1 \r\n",
        b"GET /liv\x00ez HTTP/1.1\r\n",
        b"GET /liv\xc3\xa9z HTTP/1.1\r\n",
        b"GET /livez http/1.1\r\n",
        b"GET /livez HTTP/11\r\n",
        b"\x16\x03\x01\x02\x00\x01",  # a TLS client
        b"\x00",
        b" GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # no Host
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n",
    ],
)
def test_a_head_that_is_not_of_http_is_refused(received):
    assert refusal(received) is Refusal.MALFORMED


@pytest.mark.parametrize("version", ["0.9", "2.0", "9.9"])
def test_only_one_major_version_is_served(version):
    head = f"GET / HTTP/{version}\r\n\r\n".encode()
    assert refusal(head) is Refusal.VERSION_NOT_SUPPORTED
    assert refusal(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") is Refusal.VERSION_NOT_SUPPORTED


def test_a_head_has_a_largest_size_whatever_it_is_full_of():
    for filler in (b"\r\n", b"G", b"GET /" + b"a" * 100, GET[:-2] + b"X: y\r\n"):
        endless = (filler * (MAX_HEAD_BYTES + 1))[: MAX_HEAD_BYTES + 1]
        assert refusal(endless) in {Refusal.HEAD_TOO_LARGE, Refusal.MALFORMED}
    largest = GET[:-4] + b"a" * (MAX_HEAD_BYTES - len(GET)) + GET[-4:]
    assert taken(largest).path == "/livez"
    assert refusal(largest[:-4] + b"a" + largest[-4:]) is Refusal.HEAD_TOO_LARGE
