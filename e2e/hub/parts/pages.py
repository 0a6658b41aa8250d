"""Metrics pages that tests serve: of a reporter whose clock is wrong, or of any series."""

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from tests.support.fleet.series import SeriesSample


EVALUATED = "productionstack_status_reporter_rollup_evaluated_timestamp_seconds"


class _Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def render(families: Iterable[Metric]) -> bytes:
    """Return the page of these families."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(list(families)))
    return generate_latest(registry)


def render_samples(samples: Iterable[SeriesSample]) -> bytes:
    """Return the page of these series, all of them gauges."""
    families: dict[str, Metric] = {}
    for labels, value in samples:
        name = labels["__name__"]
        rest = {key: text for key, text in labels.items() if key != "__name__"}
        family = families.setdefault(name, Metric(name, "of a test", "gauge"))
        family.add_sample(name, rest, float(value))
    return render(families.values())


@contextlib.contextmanager
def served(page: Callable[[], bytes]) -> Iterator[int]:
    """Serve what *page* returns; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with serving(Handler) as port:
        yield port


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Run a server in a thread; yield its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def shifted_page(port: int, seconds: float) -> Iterator[int]:
    """
    Serve the page of a reporter at *port* with its time of evaluation shifted; yield its port.
    """

    def page() -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return render(_shifted(text, seconds))

    with served(page) as served_at:
        yield served_at


def _shifted(text: str, seconds: float) -> Iterator[Metric]:
    for family in text_string_to_metric_families(text):
        if "_rollup_" in family.name:
            shift = seconds if family.name == EVALUATED else 0.0
            family.samples = [each._replace(value=each.value + shift) for each in family.samples]
            yield family
