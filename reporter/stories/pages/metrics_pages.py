"""
The metrics pages of a story's pods, built from its short notation.

``speed``, ``left`` and ``remaining`` describe a download, ``engine: true`` adds vLLM's families,
``samples`` maps names of other gauges to their values, ``unreadable`` is the error of an
unreadable page, and ``result`` the class of that error. ``page``, ``values``, ``rates`` and
``without`` describe a model server: engine_pages.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from reporter.model.metrics.samples import FailedScrape, Sample, ScrapedMetrics, ScrapeResult
from reporter.model.metrics.scrapes import Scrape
from reporter.scrape.exposition import MalformedExposition
from reporter.stages.resources.downloads import (
    ENGINE_METRIC_PREFIX,
    MEGABYTE,
    REMAINING_SECONDS_METRIC,
)
from reporter.stages.store.store import Store
from reporter.stories.notation.errors import StoryError
from reporter.stories.notation.syntax import apply_merge_patch, expand_numbered, parse_duration
from reporter.stories.pages.engine_pages import EnginePages
from reporter.stories.pages.exposition import has_family, parse_samples


AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) (GB|MB/s)", re.ASCII)
POD = re.compile(r"Pod [^/ ]+/[^/ ]+")
UNIT = {"GB": 1e9, "MB/s": MEGABYTE}
UNKNOWN = -1.0
"""
The remaining seconds before the first byte, while nothing arrives, and if the size is not known.
"""


def parse_amount(text: str) -> float:
    """Return bytes, or bytes a second."""
    found = AMOUNT.fullmatch(text)
    if found is None:
        raise StoryError(f"`{text}` is no amount such as 40 GB or 3.5 MB/s")
    return float(found[1]) * UNIT[found[2]]


@dataclass
class MetricsPages:
    """
    The notation of each page by ``Pod namespace/name``; *bytes_left*: the bytes and their time.
    """

    metric: str
    scrapes: Mapping[str, Scrape]
    words: dict[str, dict[str, Any]] = field(default_factory=dict)
    bytes_left: dict[str, tuple[float, datetime]] = field(default_factory=dict)
    engines: EnginePages = field(default_factory=EnginePages)

    def change(self, changes: Mapping[str, Mapping[str, Any] | None], *, now: datetime) -> None:
        for name, words in expand_numbered(changes):
            if not POD.fullmatch(name):
                raise StoryError(f"{name}: pods have pages, as `Pod NAMESPACE/NAME`")
            left = self._left(name, now=now) if name in self.bytes_left else None
            before = self.words.pop(name, {})
            self.bytes_left.pop(name, None)
            if words is None:
                continue
            self.engines.change(name, before, words, now=now)
            self.words[name] = apply_merge_patch(before, words)
            left = parse_amount(words["left"]) if words.get("left") else left
            if left is not None and "left" in self.words[name]:
                self.bytes_left[name] = left, now

    def scrape_into(self, store: Store, *, now: datetime) -> None:
        """Record what each scrape reads of the pods that it selects, as the process does."""
        for name, words in self.words.items():
            pod = store.get_pod(*name.removeprefix("Pod ").split("/"))
            if pod is None:
                continue
            for reason, scrape in self.scrapes.items():
                if not scrape.pods.matches(pod):
                    continue
                if words.get("unreadable"):
                    result = ScrapeResult(words.get("result", ScrapeResult.FAILED))
                    failure = FailedScrape(now, words["unreadable"], result)
                    store.record_scrape_failure(pod, reason, failure)
                else:
                    store.record_scrape(pod, reason, self._scrape(name, scrape, now=now))

    def text(self, name: str, *, now: datetime) -> str:
        """Return a page in the text format."""
        words = self.words[name]
        if words.get("page"):
            return self.engines.text(name, words, now=now)
        gauges = dict(self.gauges(name, now=now))
        if words.get("engine"):
            gauges[f"{ENGINE_METRIC_PREFIX}num_requests_running"] = 0.0
        return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in gauges.items())

    def _scrape(self, name: str, scrape: Scrape, *, now: datetime) -> ScrapedMetrics:
        if self.words[name].get("page"):
            page = self.text(name, now=now)
            samples, present = _read_page(page, scrape.families, scrape.prefixes)
            if isinstance(samples, MalformedExposition):
                raise StoryError(f"{name}: {samples.why}")
            return ScrapedMetrics(now, samples, present)
        gauges = dict(self.gauges(name, now=now))
        samples = tuple(
            Sample(each, {}, gauges[each]) for each in scrape.families if each in gauges
        )
        loaded = self.words[name].get("engine", False)
        present = frozenset({ENGINE_METRIC_PREFIX} if loaded else ())
        return ScrapedMetrics(now, samples, present & set(scrape.prefixes))

    def gauges(self, name: str, *, now: datetime) -> Iterator[tuple[str, float]]:
        """Yield names and values of the gauges on a page."""
        words = self.words[name]
        yield from words.get("samples", {}).items()
        if words.get("metric", True):
            yield self.metric, parse_amount(words["speed"]) if "speed" in words else 0.0
            yield REMAINING_SECONDS_METRIC, self._remaining(name, now=now)

    def _remaining(self, name: str, *, now: datetime) -> float:
        """
        Return the pod's estimate in seconds; it is 0 after the last byte, whatever the last speed.
        """
        words = self.words[name]
        if "remaining" in words:
            return parse_duration(words["remaining"]).total_seconds()
        speed = parse_amount(words.get("speed", "0 MB/s"))
        left = self._left(name, now=now) if name in self.bytes_left else None
        if left == 0:
            return 0.0
        return UNKNOWN if left is None or not speed else left / speed

    def _left(self, name: str, *, now: datetime) -> float:
        left, since = self.bytes_left[name]
        speed = parse_amount(self.words[name].get("speed", "0 MB/s"))
        return max(left - speed * (now - since).total_seconds(), 0.0)


# A page is the same at the same moment of each replay, and for each reason.
@lru_cache(maxsize=1024)
def _read_page(
    page: str, families: tuple[str, ...], prefixes: tuple[str, ...]
) -> tuple[tuple[Sample, ...] | MalformedExposition, frozenset[str]]:
    """Return the samples of the families, or why they cannot be read, and the prefixes that it has."""
    text = page.encode()
    present = frozenset(each for each in prefixes if has_family(text, each))
    return parse_samples(text, families), present
