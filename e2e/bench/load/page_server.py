"""
A fast server of the metrics pages of all pods: ``python -m e2e.bench.load.page_server 5000``.

It never responds at the addresses of hanging pods. ``/scrapes`` returns time and address of each
scrape since the last call.
"""

import asyncio
import ipaddress
import json
import sys
import time
from typing import ClassVar

from e2e.bench.load.loading_pods import HANGING, READY, SERVING
from tests.support.stubs import metrics_pages


BACKLOG = 4096
FAST = 850e6
"""Bytes a second; a download this fast is healthy."""

COUNTED = b" 48211.0\n"
"""
The value of the counters on the page of vLLM, in place of which the time is served: an engine that
does not progress would be trouble.
"""

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"


class PodPageProtocol(asyncio.Protocol):
    scrapes: ClassVar[list[tuple[float, str]]] = []
    page = HEAD + metrics_pages.pre_download(FAST, 60.0)
    large_page = HEAD + metrics_pages.vllm()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" not in self._received:
            return
        address = self._transport.get_extra_info("sockname")[0]
        if self._received.startswith(b"GET /scrapes "):
            self._transport.write(HEAD + json.dumps(self.scrapes).encode())
            self.scrapes.clear()
        elif ipaddress.ip_address(address) in HANGING:
            return
        else:
            self.scrapes.append((time.time(), address))
            is_large = any(ipaddress.ip_address(address) in each for each in (SERVING, READY))
            self._transport.write(_progressed(self.large_page) if is_large else self.page)
        self._transport.close()


def _progressed(page: bytes) -> bytes:
    return page.replace(COUNTED, b" %d.0\n" % int(time.time() * 10))


async def _serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(PodPageProtocol, "0.0.0.0", port, backlog=BACKLOG)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
