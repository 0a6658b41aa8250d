"""
A fast server of the metrics pages of all pods: ``python -m e2e.bench.load.page_server 5000``.

It never responds at the addresses of hanging pods. ``/scrapes`` returns time and address of each
scrape since the last call.
"""

import asyncio
import ipaddress
import json
import re
import sys
import time
from functools import lru_cache
from typing import ClassVar

from e2e.bench.load.loading_pods import HANGING, READY, SERVING
from reporter.stories.metrics_pages import PAGES
from tests.support.stubs import metrics_pages


BACKLOG = 4096
FAST = 850e6
"""Bytes a second; a download this fast is healthy."""

PAGE, MADE = metrics_pages.pre_download(FAST, 60.0), metrics_pages.vllm()

_BUSY = re.compile(rb"^(vllm:num_requests_(?:running|waiting)\{[^}]*\}) 0\.0$", re.MULTILINE)
_COUNTED = re.compile(rb"^(vllm:\w+_(?:total|count|sum|bucket)\{[^}]*\}) \d\d+\.0$", re.MULTILINE)
"""
The counters of an engine that are 10 or more. The time is served in their place: an engine that does not
progress would be trouble.
"""

RECORDED = _BUSY.sub(rb"\g<1> 3.0", (PAGES / "vllm-new.txt").read_bytes())
"""The newest recorded page, of one engine that is busy: 52 KiB."""

HEAD = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 01 Jun 2026 12:00:00 GMT\r\nserver: uvicorn\r\n"
    b"content-length: %d\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"
    b"connection: close\r\n\r\n"
)
"""The head as vLLM's server writes it (uvicorn, starlette)."""


class PodPageProtocol(asyncio.Protocol):
    scrapes: ClassVar[list[tuple[float, str]]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" not in self._received:
            return
        address = self._transport.get_extra_info("sockname")[0]
        if self._received.startswith(b"GET /scrapes "):
            self._respond(json.dumps(self.scrapes).encode())
            self.scrapes.clear()
        elif ipaddress.ip_address(address) in HANGING:
            return
        else:
            self.scrapes.append((time.time(), address))
            self._respond(_page(ipaddress.ip_address(address)))

    def _respond(self, body: bytes) -> None:
        self._transport.write(HEAD % len(body) + body)
        self._transport.close()


def _page(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bytes:
    # All pages that are asked for in a tenth of a second have the same numbers.
    progress = int(time.time() * 10)
    if address in READY:
        return _progressed(RECORDED, progress)
    return _progressed(MADE, progress) if address in SERVING else PAGE


@lru_cache(maxsize=2)
def _progressed(page: bytes, progress: int) -> bytes:
    return _COUNTED.sub(rb"\g<1> %d.0" % progress, page)


async def _serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(PodPageProtocol, "0.0.0.0", port, backlog=BACKLOG)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
