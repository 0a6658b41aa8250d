"""One HTTP response, in all the ways in which a server may frame and send it."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.scrape.page_response import (
    MAX_HEAD_BYTES,
    MalformedResponseError,
    PageResponse,
)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def chunked(body: bytes, sizes: list[int]) -> bytes:
    """Frame a body in chunks of these sizes, and one of what is left."""
    found, at = b"", 0
    for size in (*sizes, len(body)):
        part = body[at : at + size]
        at += len(part)
        found += b"%x\r\n%b\r\n" % (len(part), part) if part else b""
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + found + b"0\r\n\r\n"


def with_length(body: bytes, _: list[int]) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def until_closed(body: bytes, _: list[int]) -> bytes:
    return HEAD + b"\r\n" + body


def received(pieces: list[bytes]) -> PageResponse:
    """Return the response after its end; raise if it has none."""
    response = PageResponse()
    if not any(response.feed(each) for each in pieces):
        response.end()
    return response


def split(sent: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(sent) + 1) for cut in cuts), len(sent)]
    return [sent[a:b] for a, b in pairwise(places) if a < b]


cuts = st.lists(st.integers(min_value=0, max_value=2000), max_size=12)
sizes = st.lists(st.integers(min_value=1, max_value=90), max_size=5)
framings = st.sampled_from([chunked, with_length, until_closed])


@given(st.binary(max_size=300), framings, sizes, cuts)
def test_a_body_is_the_same_however_it_is_framed_and_sent(body, framing, sizes, cuts):
    response = received(split(framing(body, sizes), cuts))
    assert (response.status, bytes(response.body)) == (200, body)
    assert response.headers["content-type"] == "text/plain"


@given(st.binary(max_size=300), st.sampled_from([chunked, with_length]), sizes, cuts, st.data())
def test_a_response_that_is_cut_off_is_none(body, framing, sizes, cuts, data):
    sent = framing(body, sizes).removesuffix(b"\r\n")
    short = sent[: data.draw(st.integers(min_value=0, max_value=len(sent) - 3))]
    with pytest.raises(MalformedResponseError):
        received(split(short, cuts))


@given(st.binary(max_size=300), cuts)
def test_nothing_that_a_server_sends_raises_another_error(sent, cuts):
    for begin in (b"", HEAD, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"):
        with suppress(MalformedResponseError):
            assert received(split(begin + sent, cuts)).status


@pytest.mark.parametrize(
    "head",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 0200 OK\r\n\r\n",
        HEAD + b"no header\r\n\r\n",
        HEAD + b" folded: 1\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1_0\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"x" * 1000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"-1\r\n" + b"x" * 1000,
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * (MAX_HEAD_BYTES + 1),
    ],
    ids=map(str, range(11)),
)
def test_what_is_no_response_is_refused(head):
    with pytest.raises(MalformedResponseError):
        PageResponse().feed(head)


def test_what_follows_the_response_is_left_out():
    response = PageResponse()
    assert response.feed(HEAD + b"Content-Length: 3\r\n\r\nabcdef")
    assert response.body == b"abc"


def test_chunks_count_as_parts():
    response = PageResponse()
    assert response.feed(chunked(b"x" * 50, [1] * 40))
    assert response.parts == 1 + 41 + 1
