"""The metrics pages of a case's pods, each served at a loopback address of its own."""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from reporter.controller.enabled_scrapes import find_scrapes
from reporter.evaluation.registry import SPECS
from reporter.stories.format import expand_numbered
from reporter.stories.metrics_pages import MetricsPages
from tests.support.cases import case_catalogue
from tests.support.catalogue_fixture import DEFAULT_FLAGS


class CasePageServer:
    """
    A server of the pages that a case describes.

    *addresses*: the address of each pod that has a page at any time of the case.
    """

    def __init__(self, case: Mapping[str, Any]) -> None:
        flags = {**DEFAULT_FLAGS, **case.get("flags", {})}
        scrapes = find_scrapes(case_catalogue(case), SPECS, flags)
        self._ports = {each.port for each in scrapes.values()}
        self._pages = MetricsPages(flags["weight-download-metric"], scrapes)
        steps = (case.get("given", {}), *case["story"])
        changes = (step.get("pages", {}) for step in steps)
        pods = sorted({name for each in changes for name, _ in expand_numbered(each)})
        self.addresses = dict(zip(pods, _own_addresses(len(pods)), strict=True))
        self._servers, self._reads = ExitStack(), Counter[str]()

    def __enter__(self) -> Self:
        with ExitStack() as started:
            for pod, address in self.addresses.items():
                for port in self._ports:
                    server = ThreadingHTTPServer((address, port), partial(_Handler, self, pod))
                    started.callback(server.server_close)
                    threading.Thread(target=server.serve_forever, daemon=True).start()
                    started.callback(server.shutdown)
            self._servers = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._servers.close()

    def change(self, changes: Mapping[str, Any]) -> None:
        self._pages.change(changes, now=datetime.now(UTC))

    def wait_read(self, changes: Mapping[str, Any], *, within: float) -> None:
        """
        Wait until each changed page was read twice from now on, or for so many seconds: a page may be
        one that nobody reads.
        """
        pages = [name for name, words in expand_numbered(changes) if words is not None]
        wanted = {name: self._reads[name] + 2 for name in pages}
        end = time.monotonic() + within
        while time.monotonic() < end and any(self._reads[name] < n for name, n in wanted.items()):
            time.sleep(0.05)

    def page(self, pod: str) -> bytes | None:
        """Return the page of a pod, None if it is unreadable."""
        self._reads[pod] += 1
        described = self._pages.words.get(pod, {"unreadable": "no page"})
        if described.get("unreadable"):
            return None
        return self._pages.text(pod, now=datetime.now(UTC)).encode()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, pages: CasePageServer, pod: str, *request: Any) -> None:
        self._pages, self._pod = pages, pod
        super().__init__(*request)

    def do_GET(self) -> None:
        page = self._pages.page(self._pod)
        self.send_response(200 if page is not None else 503)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_: object) -> None:
        pass


def _own_addresses(number: int) -> Iterable[str]:
    """Yield loopback addresses that no other process of the tests uses."""
    process = os.getpid() % (1 << 14)
    for each in range(1, number + 1):
        yield f"127.{128 + (process >> 8)}.{process & 0xFF}.{each}"
