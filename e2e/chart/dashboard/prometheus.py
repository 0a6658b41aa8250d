"""A real Prometheus that has the metrics pages of a replay in its database."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from prometheus_client.core import Metric
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from e2e.controlplane import assets, until
from e2e.controlplane.processes import Folder, Process
from tests.support.ports import free_port


Json = dict[str, Any]
Labels = tuple[tuple[str, str], ...]
STEP = 60
"""Seconds between two pages."""


class _History(Collector):
    """Samples of many pages, each with its time."""

    def __init__(self, pages: Sequence[str], begin: datetime, target: Mapping[str, str]) -> None:
        self._families: dict[str, Metric] = {}
        for number, page in enumerate(pages):
            moment = begin.timestamp() + STEP * number
            for each in text_string_to_metric_families(page):
                kept = self._families.setdefault(
                    each.name, Metric(each.name, each.documentation, each.type)
                )
                kept.samples += [
                    sample._replace(labels={**sample.labels, **target}, timestamp=moment)
                    for sample in each.samples
                ]

    def collect(self) -> Iterator[Metric]:
        yield from self._families.values()


@dataclass(frozen=True)
class Prometheus:
    """*begin*, *end*: of the pages in its database."""

    port: int
    begin: datetime
    end: datetime

    def instant(self, query: str, at: datetime) -> list[Json]:
        return self._ask("query", query=query, time=str(at.timestamp()))

    def range(self, query: str) -> list[Json]:
        span = {"start": str(self.begin.timestamp()), "end": str(self.end.timestamp())}
        return self._ask("query_range", query=query, step=str(STEP), **span)

    def label_values(self, selector: str, label: str) -> list[str]:
        span = {"start": str(self.begin.timestamp()), "end": str(self.end.timestamp())}
        found: list[str] = self._get(f"label/{label}/values", **{"match[]": selector}, **span)
        return found

    def _ask(self, path: str, **parameters: str) -> list[Json]:
        found: list[Json] = self._get(path, **parameters)["result"]
        return found

    def _get(self, path: str, **parameters: str) -> Any:
        """
        Raise urllib's HTTPError for a query that is refused; warnings and notes are none for Grafana.
        """
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urlencode(parameters)}"
        with urlopen(url, timeout=60) as response:
            answer = json.load(response)
        assert answer["status"] == "success", answer
        assert not answer.get("warnings"), answer["warnings"]
        return answer["data"]


@contextmanager
def prometheus_with(
    pages: Sequence[str], begin: datetime, target: Mapping[str, str]
) -> Iterator[Prometheus]:
    """Run a Prometheus that has scraped these pages, one a minute."""
    folder, programs = Folder(), assets.find()
    try:
        text = folder.path / "pages.txt"
        text.write_bytes(generate_latest(_History(pages, begin, target)))
        data = folder.path / "data"
        backfill = ("tsdb", "create-blocks-from", "openmetrics", str(text), str(data))
        done = subprocess.run(
            [programs.program("promtool"), *backfill], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (folder.path / "prometheus.yaml").write_text("{}")
        port = free_port()
        process = folder.start(
            "prometheus",
            [
                programs.program("prometheus"),
                f"--config.file={folder.path / 'prometheus.yaml'}",
                f"--storage.tsdb.path={data}",
                "--storage.tsdb.retention.time=100y",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
        )
        until(lambda: _is_ready(process, port), within=60, what="Prometheus is ready")
        end = datetime.fromtimestamp(begin.timestamp() + STEP * (len(pages) - 1), begin.tzinfo)
        yield Prometheus(port, begin, end)
    finally:
        folder.end()


def _is_ready(process: Process, port: int) -> bool:
    assert process.running(), process.tail()
    try:
        with urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
