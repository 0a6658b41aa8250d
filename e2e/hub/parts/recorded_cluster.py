"""Clusters whose reporters were recorded: their pages, served as of now, until they fall silent."""

import contextlib
import re
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from e2e.chart.alerts.capture import State
from e2e.hub.parts.pages import serving
from reporter.metrics.declarations import PREFIX


_TIMES = re.compile(
    rf"^({PREFIX}(?:last_pass|rollup_evaluated)_timestamp_seconds\S*) .*$", re.MULTILINE
)
_UID = re.compile(r'cluster_uid="[^"]*"')


class RecordedCluster:
    """*port*: where the page of its leader is served."""

    def __init__(self, name: str, state: State) -> None:
        self.name, self.port = name, 0
        self._page: str | None = None
        self.show(state)

    def show(self, state: State) -> None:
        """Serve the page of a state from now on."""
        (leader,) = (each for each in state.after if f"\n{PREFIX}leader 1.0" in each)
        self._page = _UID.sub(f'cluster_uid="{self.name}"', leader)

    def fall_silent(self) -> None:
        self._page = None

    def page(self) -> bytes | None:
        page, now = self._page, time.time()
        return None if page is None else _TIMES.sub(rf"\g<1> {now}", page).encode()


@contextlib.contextmanager
def recorded_cluster(name: str, state: State) -> Iterator[RecordedCluster]:
    cluster = RecordedCluster(name, state)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = cluster.page()
            self.send_response(HTTPStatus.SERVICE_UNAVAILABLE if page is None else HTTPStatus.OK)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, *_: object) -> None: ...

    with serving(Handler) as cluster.port:
        yield cluster
