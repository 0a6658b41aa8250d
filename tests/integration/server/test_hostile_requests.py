"""
Anything that reaches the HTTP server gets an HTTP/1.1 response or a closed connection, no more.
"""

import asyncio
import re
from collections.abc import Iterable
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reporter.metrics.process import Exposition
from reporter.server.limits import ConnectionTimeouts
from reporter.server.server import HttpServer, Pages
from reporter.settings import BindAddress
from tests.integration.server.served_pages import exchange
from tests.support.ports import free_port
from tests.support.stall_free_loop import StallFreeEventLoop


PAGES = Pages(
    metrics=lambda _: Exposition("text/plain", lambda: b"a 1\n"),
    status=lambda: iter(("{}\n",)),
    livez=lambda: "",
    readyz=lambda: "",
)
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (?:200|400|404|405|408|417) [A-Z][A-Za-z -]+\r\n")
pieces = st.sampled_from(
    [
        *(b"GET", b"HEAD", b"POST", b"OPTIONS", b"PRI", b"\x16\x03\x01\x02\x00\x01\x00"),
        *(b" ", b"  ", b"\t", b"/livez", b"/status", b"/", b"*", b"http://a/livez", b"?x=%00"),
        *(b" HTTP/1.1", b" HTTP/1.0", b" HTTP/0.9", b" HTTP/2.0", b" HTTP/1."),
        *(b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x00", b"\xff", b":", b"a" * 100, b"a" * 9000),
        *(b"Host: a\r\n", b"Connection: close\r\n", b"Content-Length: 5\r\n", b" folded\r\n"),
        *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: -1\r\n", b"0\r\n\r\n"),
        b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
)
requests = st.lists(pieces | st.binary(max_size=20), max_size=12).map(b"".join)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(requests, min_size=1, max_size=20))
def test_every_answer_is_of_http_and_nothing_is_logged(caplog, several: list[bytes]):
    with asyncio.Runner(loop_factory=StallFreeEventLoop) as runner:
        answers = runner.run(_send_each(several))
    assert len(answers) == len(several)
    for answer in answers:
        _check_answers(answer)
    assert caplog.records == []


def _check_answers(answer: bytes) -> None:
    """Assert that this is a row of whole responses."""
    while answer:
        assert STATUS_LINE.match(answer), answer
        head, end, answer = answer.partition(b"\r\n\r\n")
        assert end
        assert b"\r\nServer: productionstack-status-reporter" in head
        assert b"aiohttp" not in head
        if answer.startswith(b"HTTP/1."):
            continue  # a response to HEAD has no body
        length = re.search(rb"Content-Length: ([0-9]+)", head)
        if length is not None:
            answer = answer[int(length[1]) :]
        elif answer:
            assert answer.startswith(b"3\r\n{}\n\r\n0\r\n\r\n" if b"chunked" in head else b"{}\n")
            answer = answer.partition(b"0\r\n\r\n")[2]


async def _send_each(several: Iterable[bytes]) -> list[bytes]:
    address = BindAddress("127.0.0.1", free_port())
    soon = ConnectionTimeouts(*[timedelta(seconds=0.1)] * 3)
    server = HttpServer(PAGES, metrics=None, health=address, status=address, timeouts=soon)
    await server.start()
    try:
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(exchange(address, each)) for each in several]
        return [each.result() for each in answers]
    finally:
        await server.stop()
