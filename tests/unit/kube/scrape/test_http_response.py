"""
Responses of servers of metrics pages, whole or hostile.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.kube.scrape.http_response import (
    MalformedResponse,
    OversizedResponse,
    ResponseParser,
)
from reporter.kube.scrape.limits import MAX_CHUNKS, MAX_HEAD_BYTES, MAX_PAGE_BYTES


OK = b"HTTP/1.1 200 OK\r\n"
PAGE = b"a 1\nb 2\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = {
    "length": OK + b"Content-Length: 8\r\n\r\n" + PAGE,
    "chunks": CHUNKED + b"4\r\na 1\n\r\n4;x=y\r\nb 2\n\r\n0\r\nTrailer: x\r\n\r\n",
    "end": OK + b"\r\n" + PAGE,
    "line feeds alone": b"HTTP/1.0 200\nContent-Length: 8\n\n" + PAGE,
    "an interim response": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"\r\n" + PAGE,
    "the same length twice": OK + b"Content-Length: 8\r\ncontent-length: 8\r\n\r\n" + PAGE,
    "more than its length": OK + b"Content-Length: 8\r\n\r\n" + PAGE + b"c 3\n",
}


def read(received: bytes, *, size: int = 2**16) -> ResponseParser:
    parser = ResponseParser()
    for at in range(0, len(received), size):
        if parser.is_whole:
            break
        parser.feed(received[at : at + size])
    if not parser.is_whole:
        parser.end()
    return parser


@pytest.mark.parametrize("received", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_response_is_read_however_it_arrives(received, size):
    parser = read(received, size=size)
    assert (parser.status, parser.take_body()) == (200, PAGE)


@pytest.mark.parametrize(
    "received",
    [
        b"",
        OK,
        OK + b"Content-Length: 9\r\n\r\n" + PAGE,
        CHUNKED + b"4\r\na 1\n\r\n",
        CHUNKED + b"4\r\na 1\nb 2\n0\r\n\r\n",
        CHUNKED + b"-4\r\n",
        CHUNKED + b"x" * 1000,
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"Content-Length: +8\r\n\r\n" + PAGE,
        OK + b"Content-Length: 8\r\nContent-Length: 4\r\n\r\n" + PAGE,
        OK + b"no colon\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"a 1\nb 2\n\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
)
def test_what_is_cut_off_or_not_http_is_malformed(received):
    with pytest.raises(MalformedResponse):
        read(received)


@pytest.mark.parametrize(
    ("received", "why"),
    [
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * MAX_HEAD_BYTES, "its head"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * MAX_HEAD_BYTES, "its head"),
        (OK + b"Content-Length: %d\r\n\r\n" % (MAX_PAGE_BYTES + 1), "bytes"),
        (CHUNKED + b"fffffff\r\n", "bytes"),
        (OK + b"\r\n" + b"x" * (MAX_PAGE_BYTES + 1), "bytes"),
        (CHUNKED + b"1\r\na\r\n" * (MAX_CHUNKS + 1), f"more than {MAX_CHUNKS} chunks"),
    ],
    ids=["headers", "interim responses", "length", "chunk", "body", "chunks"],
)
def test_a_response_has_a_largest_size_of_everything(received, why):
    with pytest.raises(OversizedResponse, match=why):
        read(received)


def test_a_chunk_that_is_not_whole_counts_too():
    parser = ResponseParser()
    parser.feed(CHUNKED + b"100000\r\n")
    for _ in range(16):
        parser.feed(b"x" * 4096)
    assert parser.size > 16 * 4096
    assert not parser.is_whole


@given(
    st.sampled_from([b"", OK, CHUNKED, OK + b"\r\n"]), st.binary(max_size=300), st.integers(1, 50)
)
def test_nothing_that_a_pod_sends_raises_anything_else(begin, rest, size):
    try:
        parser = read(begin + rest, size=size)
    except (MalformedResponse, OversizedResponse):
        return
    assert parser.is_whole
