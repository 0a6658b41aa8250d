"""
The metrics pages of model servers that a story describes: recorded families, with values of its own.

``page`` names a file of ``recorded/``. ``values`` sets numbers, ``rates`` lets them grow so
much a second, ``without`` removes families. A number is named as in SERIES; that of another engine
than the first is ``name/engine``, that of another process ``name@pid``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

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
LINE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")


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
        lines = _recorded_lines(words["page"])
        for key, value in sorted(self._counts(pod, words, now=now).items()):
            _set_series(lines, key, value)
        gone = {SERIES[each][0].removesuffix("_count") for each in words.get("without") or ()}
        kept = [line for line in lines if not _is_of(line, gone)]
        return "\n".join(kept) + "\n"

    def _counts(self, pod: str, words: Mapping[str, Any], *, now: datetime) -> dict[str, float]:
        counts, rates = dict(self.counts.get(pod, {})), words.get("rates") or {}
        passed = (now - self.since.get(pod, now)).total_seconds()
        for key, rate in rates.items():
            start = counts[key] if key in counts else _recorded(words["page"], key)
            counts[key] = start + rate * passed
        return counts


def _parse_key(key: str) -> tuple[str, dict[str, str], str]:
    """
    Return the name of the series, its labels, and the engine label, empty for the first engine.
    """
    short, _, pid = key.partition("@")
    short, _, engine = short.partition("/")
    _require_series(short)
    name, labels = SERIES[short]
    wanted = dict(re.findall(r'(\w+)="([^"]*)"', labels))
    return name, {**wanted, **({"pid": pid} if pid else {})}, engine


def _require_series(name: str) -> None:
    if name not in SERIES:
        raise StoryError(f"a page has no `{name}`; known are {', '.join(SERIES)}")


def _recorded_lines(page: str) -> list[str]:
    return (PAGES / f"{page}.txt").read_text("utf-8").splitlines()


def _recorded(page: str, key: str) -> float:
    lines = _recorded_lines(page)
    at = _find(lines, key)
    found = LINE.fullmatch(lines[at]) if at is not None else None
    return float(found["value"]) if found is not None else 0.0


def _find(lines: list[str], key: str) -> int | None:
    name, labels, engine = _parse_key(key)
    for at, line in enumerate(lines):
        found = LINE.fullmatch(line)
        if found is None or found["name"] != name:
            continue
        has = dict(re.findall(r'(\w+)="([^"]*)"', found["labels"] or ""))
        if labels.items() <= has.items() and has.get("engine", "") in {engine or "0", engine}:
            return at
    return None


def _set_series(lines: list[str], key: str, value: float) -> None:
    name, labels, engine = _parse_key(key)
    at = _find(lines, key)
    if at is not None:
        lines[at] = f"{lines[at].rpartition(' ')[0]} {value}"
        return
    others = [i for i, line in enumerate(lines) if _name(line) == name]
    like = LINE.fullmatch(lines[others[-1]]) if others else None
    has = dict(re.findall(r'(\w+)="([^"]*)"', (like["labels"] or "") if like else ""))
    if engine:
        has["engine"] = engine
    all_labels = ",".join(f'{label}="{text}"' for label, text in {**has, **labels}.items())
    line = f"{name}{{{all_labels}}} {value}"
    if others:
        lines.insert(others[-1] + 1, line)
    else:
        lines += [f"# TYPE {name} gauge", line]


def _name(line: str) -> str:
    found = LINE.fullmatch(line)
    return found["name"] if found is not None else ""


def _is_of(line: str, families: set[str]) -> bool:
    return any(
        line.startswith((f"# TYPE {each} ", f"# HELP {each} "))
        or _name(line) in {each, f"{each}_count", f"{each}_sum", f"{each}_bucket"}
        for each in families
    )
