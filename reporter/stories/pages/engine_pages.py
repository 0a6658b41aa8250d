"""
The metrics pages of model servers that a story describes: recorded families, with values of its own.

``page`` names a file of ``recorded/``. ``values`` sets numbers, ``rates`` lets them grow so
much a second, ``without`` removes families. A number is named as in SERIES; that of another engine
than the first is ``name/engine``, that of another process ``name@pid``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from reporter.stories.notation.errors import StoryError


PAGES = Path(__file__).parent / "recorded"
PAGE_NAMES = frozenset(each.stem for each in PAGES.glob("*.txt"))
CHAT = 'handler="/v1/chat/completions",method="POST"'
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
    A line of a page. *key*: of the number that a story sets; *text* is the line up to that, then.
    """

    text: str
    key: str = ""

    @property
    def series(self) -> str:
        return self.text if self.key else self.text.rpartition(" ")[0]

    @property
    def name(self) -> str:
        """The name of the series, empty for a comment."""
        found = ONE_SERIES.fullmatch(self.series)
        return found["name"] if found is not None else ""

    def labels(self) -> dict[str, str]:
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
        """Let the rates so far count until now, and set what the story sets."""
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
