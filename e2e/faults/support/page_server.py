"""
Pods whose pages of metrics are no such thing: at each loopback address another one.

``python -m e2e.faults.support.page_server 5000`` serves them all; its log names each address once.
"""

import asyncio
import contextlib
import gzip
import ipaddress
import random
import sys
from collections.abc import AsyncIterator, Callable, Mapping

from tests.support.stubs import metrics_pages


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
MIB = 1 << 20
BOMB = 256 * MIB
ELSEWHERE = "127.0.2.100"
"""The address that the redirect leads to."""

SLOW, HEALTHY = 3.1e6, "127.0.3.1"
"""
The speed of a download slow enough to be announced, in bytes a second, and the address that serves
it.
"""

COSTLY = tuple(f"127.0.4.{number}" for number in range(1, 41))
"""Addresses whose pages cost as much as a page can."""

HANGING = ipaddress.ip_network("127.64.0.0/10")
"""Addresses where connections are accepted and no request is ever answered."""


async def _garbage() -> AsyncIterator[bytes]:
    yield OK + b"\r\n"
    yield random.Random(1).randbytes(MIB)


async def _endless() -> AsyncIterator[bytes]:
    yield OK + b"\r\n"
    while True:
        yield metrics_pages.pre_download(1e9) * 100


async def _endless_line() -> AsyncIterator[bytes]:
    yield OK + b"\r\n" + metrics_pages.SPEED.encode()
    while True:
        yield b"0" * 65536


async def _endless_head() -> AsyncIterator[bytes]:
    yield OK
    while True:
        yield b"X-More: " + b"x" * 4000 + b"\r\n"


async def _by_the_byte() -> AsyncIterator[bytes]:
    for byte in OK + b"\r\n" + metrics_pages.pre_download(1e9):
        yield bytes([byte])
        await asyncio.sleep(0.1)


async def _bomb() -> AsyncIterator[bytes]:
    yield OK + b"Content-Encoding: gzip\r\n\r\n"
    yield gzip.compress(bytes(BOMB), 1)


async def _redirect() -> AsyncIterator[bytes]:
    to = f"Location: http://{ELSEWHERE}:{sys.argv[1]}/metrics\r\n"
    yield b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n" + to.encode() + b"\r\n"


async def _crowded() -> AsyncIterator[bytes]:
    """Send as many samples of the wanted family as fit into a page that is still read."""
    line = b'%s{of="%07d"} 1\n'
    name = metrics_pages.SPEED.encode()
    yield OK + b"\r\n"
    yield b"".join(line % (name, number) for number in range(60_000))


async def _begins_alike() -> AsyncIterator[bytes]:
    """Send a page full of lines that begin like the wanted ones."""
    line = metrics_pages.SPEED.encode() + b'_x{a="b"} 1\n'
    yield OK + b"\r\n" + b"# TYPE %b gauge\n" % metrics_pages.SPEED.encode()
    yield line * (4 * MIB // len(line) - 1)


async def _long_labels() -> AsyncIterator[bytes]:
    name = metrics_pages.SPEED.encode()
    labels = b",".join(b'label%d="\\\\"' % number for number in range(400))
    yield OK + b"\r\n" + b"# TYPE %b gauge\n" % name
    yield (name + b"{" + labels + b"} 1\n") * 500


async def _chunks_of_a_byte() -> AsyncIterator[bytes]:
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"1\r\n#\r\n" * 10_000


async def _broken_off() -> AsyncIterator[bytes]:
    yield OK + b"Content-Length: 100000\r\n\r\nhalf"


async def _slow() -> AsyncIterator[bytes]:
    yield OK + b"\r\n" + metrics_pages.pre_download(SLOW, 1000.0)


HOSTILE: Mapping[str, Callable[[], AsyncIterator[bytes]]] = {
    f"127.0.2.{number}": page
    for number, page in enumerate(
        (
            _garbage,
            _endless,
            _endless_line,
            _endless_head,
            _by_the_byte,
            _bomb,
            _redirect,
            _crowded,
            _begins_alike,
            _long_labels,
            _chunks_of_a_byte,
            _broken_off,
        ),
        start=1,
    )
}
_COSTLY_PAGES = (_begins_alike, _long_labels, _chunks_of_a_byte)
_ASKED: set[str] = set()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    address = writer.get_extra_info("sockname")[0]
    if ipaddress.ip_address(address) not in HANGING and address not in _ASKED:
        _ASKED.add(address)
        print(f"asked {address}", flush=True)
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        if ipaddress.ip_address(address) in HANGING:
            await reader.read()
        costly = {each: _COSTLY_PAGES[n % len(_COSTLY_PAGES)] for n, each in enumerate(COSTLY)}
        async for piece in {**HOSTILE, **costly}.get(address, _slow)():
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _serve(port: int) -> None:
    async with await asyncio.start_server(_answer, "0.0.0.0", port, backlog=1024) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
