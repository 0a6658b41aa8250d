"""
The metrics page of a reporter whose clock is wrong, as its agent scrapes it.
"""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector


EVALUATED = "productionstack_status_reporter_rollup_evaluated_timestamp_seconds"


class _Shifted(Collector):
    def __init__(self, page: str, seconds: float) -> None:
        self._page, self._seconds = page, seconds

    def collect(self) -> Iterator[Metric]:
        for family in text_string_to_metric_families(self._page):
            if "_rollup_" not in family.name:
                continue
            shift = self._seconds if family.name == EVALUATED else 0.0
            family.samples = [each._replace(value=each.value + shift) for each in family.samples]
            yield family


@contextlib.contextmanager
def shifted_page(port: int, seconds: float) -> Iterator[int]:
    """
    Serve the page of a reporter at *port* with its time of evaluation shifted; yield its port.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/metrics")
            page = connection.getresponse().read().decode()
            connection.close()
            registry = CollectorRegistry()
            registry.register(_Shifted(page, seconds))
            body = generate_latest(registry)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
