"""
The metrics pages of a story's pods, built from its short notation.

``speed``, ``left`` and ``remaining`` describe a download, ``engine: true`` adds vLLM's families,
``samples`` maps names of other gauges to their values, ``unreadable`` is the error of an
unreadable page, and ``result`` the class of that error. ``page``, ``values``, ``rates`` and
``without`` describe a model server, as below.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from reporter.resources.downloads import ENGINE_METRIC_PREFIX, MEGABYTE, REMAINING_SECONDS_METRIC
from reporter.scrape import exposition
from reporter.scrape.samples import FailedScrape, PageSamples, Sample, ScrapedMetrics, ScrapeResult
from reporter.scrape.scrapes import Scrape
from reporter.store.store import Store
from reporter.stories.format import StoryError, apply_merge_patch, expand_numbered, parse_duration


# --------------------------------------------------------------------
# The parser of metrics pages, run to its end.


def finish(
    steps: exposition.Steps,
) -> tuple[exposition.MetricsContent | exposition.MalformedExposition, int]:
    """Run the parser to its end; return what it found and the number of its steps."""
    number = 0
    while True:
        number += 1
        try:
            next(steps)
        except StopIteration as end:
            result: exposition.MetricsContent | exposition.MalformedExposition = end.value
            return result, number


def parse_samples(
    page: bytes, families: Iterable[str]
) -> PageSamples | exposition.MalformedExposition:
    """Return the samples of these families in the order of the page, or why one of them cannot be read."""
    names = tuple(families)
    content, _ = finish(exposition.parse_page(page, names))
    if isinstance(content, exposition.MalformedExposition):
        return content
    return content.samples_of(names)


def has_family(page: bytes, prefix: str) -> bool:
    """
    Return whether a page has a family whose name begins with *prefix*; False if it cannot be parsed.
    """
    content, _ = finish(exposition.parse_page(page, (), (prefix,)))
    return isinstance(content, exposition.MetricsContent) and prefix in content.prefixes


# --------------------------------------------------------------------
# The metrics pages of model servers that a story describes: recorded families, with values of its own.
#
# ``page`` names a file of ``recorded/``. ``values`` sets numbers, ``rates`` lets them grow so
# much a second, ``without`` removes families. A number is named as in SERIES; that of another engine
# than the first is ``name/engine``, that of another process ``name@pid``.


PAGES = Path(__file__).parent / "recorded"
PAGE_NAMES = frozenset(each.stem for each in PAGES.glob("*.txt"))
CHAT = 'handler="/v1/chat/completions",method="POST"'
BATCH = 'handler="/v1/chat/completions/batch",method="POST"'
SERIES = {
    "running": ("vllm:num_requests_running", ""),
    "waiting": ("vllm:num_requests_waiting", ""),
    "awake": ("vllm:engine_sleep_state", 'sleep_state="awake"'),
    "kv": ("vllm:kv_cache_usage_perc", ""),
    "kv-old": ("vllm:gpu_cache_usage_perc", ""),
    "steps": ("vllm:iteration_tokens_total_count", ""),
    "prompt": ("vllm:prompt_tokens_total", ""),
    "generation": ("vllm:generation_tokens_total", ""),
    "finished": ("vllm:request_success_total", 'finished_reason="stop"'),
    "aborted": ("vllm:request_success_total", 'finished_reason="abort"'),
    "failed": ("vllm:request_success_total", 'finished_reason="error"'),
    "preemptions": ("vllm:num_preemptions_total", ""),
    "corrupted": ("vllm:corrupted_requests_total", ""),
    "http": ("http_requests_total", f'{CHAT},status="2xx"'),
    "http-errors": ("http_requests_total", f'{CHAT},status="5xx"'),
    "batches": ("http_requests_total", f'{BATCH},status="2xx"'),
    "refused": ("http_requests_total", f'{CHAT},status="4xx"'),
    "tokenize": ("http_requests_total", 'handler="/tokenize",method="POST",status="2xx"'),
    "lora": ("http_requests_total", 'handler="/v1/load_lora_adapter",method="POST",status="2xx"'),
    "health": ("http_requests_total", 'handler="/health",method="GET",status="2xx"'),
    "rejected": ("kaito_ratelimit_rejected_total", ""),
}
ONE_SERIES = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?")
LABEL = re.compile(r'(\w+)="([^"]*)"')


class Line(NamedTuple):
    """
    A line of a page.

    *key*: the name of the number that a story may set; the line is then *text* and that number.
    Empty for a line that stays as it is.
    """

    text: str
    key: str = ""

    @property
    def series(self) -> str:
        """The name and labels of the line, without its value."""
        return self.text if self.key else self.text.rpartition(" ")[0]

    @property
    def name(self) -> str:
        """The name of the series, empty for a comment."""
        found = ONE_SERIES.fullmatch(self.series)
        return found["name"] if found is not None else ""

    def labels(self) -> dict[str, str]:
        """Return the labels of the series by name; none for a comment."""
        return dict(LABEL.findall(self.series.partition("{")[2]))


@dataclass
class EnginePages:
    """
    The numbers on the pages of model servers.

    *counts*: the numbers by pod and name, as they were at *since*.
    """

    counts: dict[str, dict[str, float]] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)

    def change(
        self, pod: str, before: Mapping[str, Any], words: Mapping[str, Any], *, now: datetime
    ) -> None:
        """
        Change the page of a pod, described by *before* so far: set the numbers that *words* give.

        The other numbers stay as they have grown until *now*; with another recorded page they are gone.
        Raises StoryError for a page, a number or a family that there is not.
        """
        page = words.get("page", before.get("page"))
        if not page:
            return
        if page not in PAGE_NAMES:
            raise StoryError(
                f"there is no page `{page}`; known are {', '.join(sorted(PAGE_NAMES))}"
            )
        for key in (*(words.get("values") or {}), *(words.get("rates") or {})):
            _parse_key(key)
        for name in words.get("without") or ():
            _require_series(name)
        is_same = words.get("page", before.get("page")) == before.get("page")
        counted = self._counts(pod, before, now=now) if is_same else {}
        self.counts[pod] = {**counted, **(words.get("values") or {})}
        self.since[pod] = now

    def text(self, pod: str, words: Mapping[str, Any], *, now: datetime) -> str:
        """
        Return the page of a pod at *now*: the recorded families, with the numbers that the story sets.

        Numbers with a rate have moved on since the story set them.
        """
        counts = self._counts(pod, words, now=now)
        lines = _template(words["page"], tuple(sorted(counts)), tuple(words.get("without") or ()))
        return "".join(
            f"{line.text} {counts[line.key]}\n" if line.key else f"{line.text}\n" for line in lines
        )

    def _counts(self, pod: str, words: Mapping[str, Any], *, now: datetime) -> dict[str, float]:
        counts, rates = dict(self.counts.get(pod, {})), words.get("rates") or {}
        passed = (now - self.since.get(pod, now)).total_seconds()
        for key, rate in rates.items():
            start = counts[key] if key in counts else _recorded(words["page"], key)
            counts[key] = start + rate * passed
        return counts


@lru_cache(maxsize=256)
def _template(page: str, keys: tuple[str, ...], without: tuple[str, ...]) -> tuple[Line, ...]:
    """Return the lines of a page without some families, in which these numbers are set."""
    lines = list(_recorded_lines(page))
    for key in keys:
        _set_series(lines, key)
    gone = {SERIES[each][0].removesuffix("_count") for each in without}
    return tuple(line for line in lines if not _is_of(line, gone))


@cache
def _parse_key(key: str) -> tuple[str, Mapping[str, str], str]:
    """
    Return the name of the series, its labels, and the engine label, empty for the first engine.
    """
    short, _, pid = key.partition("@")
    short, _, engine = short.partition("/")
    _require_series(short)
    name, labels = SERIES[short]
    wanted = dict(LABEL.findall(labels))
    return name, {**wanted, **({"pid": pid} if pid else {})}, engine


def _require_series(name: str) -> None:
    if name not in SERIES:
        raise StoryError(f"a page has no `{name}`; known are {', '.join(SERIES)}")


@cache
def _recorded_lines(page: str) -> tuple[Line, ...]:
    return tuple(map(Line, (PAGES / f"{page}.txt").read_text("utf-8").splitlines()))


@cache
def _recorded(page: str, key: str) -> float:
    lines = _recorded_lines(page)
    at = _find(lines, key)
    return float(lines[at].text.rpartition(" ")[2]) if at is not None else 0.0


def _find(lines: Sequence[Line], key: str) -> int | None:
    name, labels, engine = _parse_key(key)
    for at, line in enumerate(lines):
        if line.name == name:
            has = line.labels()
            if labels.items() <= has.items() and has.get("engine", "") in {engine or "0", engine}:
                return at
    return None


def _set_series(lines: list[Line], key: str) -> None:
    name, labels, engine = _parse_key(key)
    at = _find(lines, key)
    if at is not None:
        lines[at] = Line(lines[at].series, key)
        return
    others = [i for i, line in enumerate(lines) if line.name == name]
    has = lines[others[-1]].labels() if others else {}
    if engine:
        has["engine"] = engine
    all_labels = ",".join(f'{label}="{text}"' for label, text in {**has, **labels}.items())
    line = Line(f"{name}{{{all_labels}}}", key)
    if others:
        lines.insert(others[-1] + 1, line)
    else:
        lines += [Line(f"# TYPE {name} gauge"), line]


def _is_of(line: Line, families: set[str]) -> bool:
    return any(
        line.text.startswith((f"# TYPE {each} ", f"# HELP {each} "))
        or line.name in {each, f"{each}_count", f"{each}_sum", f"{each}_bucket"}
        for each in families
    )


AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) (GB|MB/s)", re.ASCII)
POD = re.compile(r"Pod [^/ ]+/[^/ ]+")
UNIT = {"GB": 1e9, "MB/s": MEGABYTE}
UNKNOWN = -1.0
"""
The remaining seconds before the first byte, while nothing arrives, and if the size is not known.
"""


def parse_amount(text: str) -> float:
    """
    Return the bytes, or bytes a second, of a text such as 40 GB or 3.5 MB/s; raise StoryError else.
    """
    found = AMOUNT.fullmatch(text)
    if found is None:
        raise StoryError(f"`{text}` is no amount such as 40 GB or 3.5 MB/s")
    return float(found[1]) * UNIT[found[2]]


@dataclass
class MetricsPages:
    """
    The metrics pages of the pods of a story, by ``Pod namespace/name``.

    *metric*: the name of the gauge of a download's speed. *scrapes*: by the reason that reads them.
    *words*: the notation of each page. *bytes_left*: what was yet to be downloaded, and when that was so.
    """

    metric: str
    scrapes: Mapping[str, Scrape]
    words: dict[str, dict[str, Any]] = field(default_factory=dict)
    bytes_left: dict[str, tuple[float, datetime]] = field(default_factory=dict)
    engines: EnginePages = field(default_factory=EnginePages)

    def change(self, changes: Mapping[str, Mapping[str, Any] | None], *, now: datetime) -> None:
        """
        Change the pages of pods, by their names; the remaining bytes of a download go on from *now*.

        None removes a page. A key that is none of a pod raises StoryError.
        """
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
        """
        Return the page of a pod in Prometheus' text format, as a scrape at *now* would read it.
        """
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
            if isinstance(samples, exposition.MalformedExposition):
                raise StoryError(f"{name}: {samples.why}")
            return ScrapedMetrics(now, samples, present)
        gauges = dict(self.gauges(name, now=now))
        samples = PageSamples.from_samples(
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
) -> tuple[PageSamples | exposition.MalformedExposition, frozenset[str]]:
    """Return the samples of the families, or why they cannot be read, and the prefixes that it has."""
    text = page.encode()
    present = frozenset(each for each in prefixes if has_family(text, each))
    return parse_samples(text, families), present
