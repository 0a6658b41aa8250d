"""
Parse a few metric families of a page in the Prometheus text format. Pure.

A page of vLLM has 1,100 lines of which a handful is wanted. So only the blocks behind the wanted
``# TYPE`` lines are parsed; a full parser takes hundreds of times as long. Format: Prometheus
documentation, "Exposition formats".

A page may be hostile. All work is counted, and is done in steps of about a millisecond.
"""

import re
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from reporter.kube.scrape import limits
from reporter.model.metrics.samples import Sample


_SAMPLE = re.compile(
    rb"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:[ \t]*+\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\}[ \t]*+|[ \t]++)'
    rb"(?P<value>[^ \t{_]++)"
    rb"(?:[ \t]++[-+.0-9eE]++)?(?:[ \t]++#.*)?[ \t]*"
)
_PLAIN_LABELS = re.compile(rb'(?:[a-zA-Z_][a-zA-Z0-9_]*+="[^"\\]*+"(?:,|$))*+')
"""
Labels without escapes and spaces, as all client libraries write most of them.
"""

_LABEL = re.compile(
    rb'[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]++|\\.)*+)"[ \t]*+(?:,[ \t]*+|$)'
)
_ESCAPED = re.compile(rb'\\([\\"n])')
_UNESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n"}
_SUFFIXES_BY_TYPE: Mapping[bytes, tuple[bytes, ...]] = {
    b"histogram": (b"_bucket", b"_sum", b"_count"),
    b"summary": (b"", b"_sum", b"_count"),
}
_ALL_SUFFIXES = (b"", b"_bucket", b"_sum", b"_count")

Steps: TypeAlias = Generator[None, None, "MetricsContent | MalformedExposition"]
"""
Yields where other tasks may run, and returns the result.
"""


@dataclass(frozen=True, slots=True)
class MalformedExposition:
    """
    The reason why a page, or a family of it, cannot be used.

    *is_too_costly*: it has more than is read, so it should be fetched less often.
    """

    why: str
    is_too_costly: bool = False


@dataclass(frozen=True, slots=True)
class MetricsContent:
    """
    The samples of each requested family in the order of the page, or why it cannot be used.

    *prefixes*: the requested ones with which the name of some family begins.
    """

    families: Mapping[str, tuple[Sample, ...] | MalformedExposition]
    prefixes: frozenset[str]


def parse_page(page: bytes, families: Collection[str], prefixes: Collection[str] = ()) -> Steps:
    """
    Parse these families, each named as on its ``# TYPE`` line.
    """
    if page and not page.endswith(b"\n"):
        # The format ends every line with a line feed, so the rest of the page was lost.
        return MalformedExposition("it is cut off: its last line has no end")
    if not _is_text_format(page):
        return MalformedExposition("it is not in the Prometheus text format")
    parser = _PageParser(page, families)
    try:
        yield from parser.parse_typed()
        yield from parser.parse_untyped()
        yield from parser.find_prefixes(prefixes)
    except _TooCostlyError as err:
        return MalformedExposition(str(err), is_too_costly=True)
    return parser.content()


class _TooCostlyError(Exception):
    pass


@dataclass(slots=True)
class _Family:
    """
    A requested family as far as it was found. *pattern*: matches the begin of its sample lines.
    """

    name: str
    pattern: re.Pattern[bytes] | None = None
    samples: list[Sample] = field(default_factory=list)
    failure: MalformedExposition | None = None


class _PageParser:
    """
    *body*: a page whose last line is whole.
    """

    def __init__(self, body: bytes, families: Collection[str]) -> None:
        self._body = body
        self._families = {name.encode(): _Family(name) for name in families}
        self._prefixes: set[str] = set()
        self._lines = self._sample_bytes = 0

    def content(self) -> MetricsContent:
        found = {
            each.name: each.failure or tuple(each.samples) for each in self._families.values()
        }
        return MetricsContent(found, frozenset(self._prefixes))

    def parse_typed(self) -> Generator[None, None, None]:
        """
        Parse the blocks behind the ``# TYPE`` lines of the requested families.
        """
        for name, family in self._families.items():
            mark = b"# TYPE %b " % name
            for start in self._find_lines(mark):
                if start is None:
                    yield
                    continue
                end = self._body.find(b"\n", start)
                kind = self._body[start + len(mark) : end].strip()
                family.pattern = _sample_pattern(name, _SUFFIXES_BY_TYPE.get(kind, (b"",)))
                if self._count_line():
                    yield
                yield from self._parse_block(family, end + 1)
                if family.failure is not None:
                    break

    def parse_untyped(self) -> Generator[None, None, None]:
        """
        Parse the lines of families without a ``# TYPE`` line, wherever they are.
        """
        for name, family in self._families.items():
            if family.pattern is not None:
                continue
            family.pattern = _sample_pattern(name, _ALL_SUFFIXES)
            for start in self._find_lines(name):
                if start is None or self._parse_line(family, start, self._body.find(b"\n", start)):
                    yield
                if family.failure is not None:
                    break

    def find_prefixes(self, prefixes: Collection[str]) -> Generator[None, None, None]:
        for prefix in prefixes:
            for begin in (f"# TYPE {prefix}", prefix):
                for start in self._find_lines(begin.encode()):
                    if start is not None:
                        self._prefixes.add(prefix)
                        break
                    yield
                if prefix in self._prefixes:
                    break

    def _parse_block(self, family: _Family, at: int) -> Generator[None, None, None]:
        """
        Parse the lines from *at* to the next ``# TYPE`` line or the end of the page.
        """
        body = self._body
        while at < len(body) and family.failure is None and not body.startswith(b"# TYPE ", at):
            end = body.find(b"\n", at)
            if self._parse_line(family, at, end):
                yield
            at = end + 1

    def _find_lines(self, begin: bytes) -> Generator[int | None, None, None]:
        """
        Yield where each line with this begin starts, and None where other tasks may run.
        """
        mark, at = b"\n" + begin, 0
        if self._body.startswith(begin):
            yield 0
        while True:
            start = self._body.find(mark, at, at + limits.STEP_BYTES)
            if start >= 0:
                yield start + 1
                at = start + 1
            elif at + limits.STEP_BYTES >= len(self._body):
                return
            else:
                at += limits.STEP_BYTES - len(mark)
                yield None

    def _parse_line(self, family: _Family, start: int, end: int) -> bool:
        """
        Parse a line if it is a sample of the family, and return whether a step ends with it.
        """
        ends, before = self._count_line(), self._sample_bytes
        if family.pattern is not None and family.pattern.match(self._body, start, end):
            self._sample_bytes += end - start
            if self._sample_bytes > limits.MAX_SAMPLE_BYTES:
                raise _TooCostlyError(
                    f"the samples that are read have more than {limits.MAX_SAMPLE_BYTES} bytes"
                )
            family.failure = self._add_sample(family, start, end)
        size = limits.STEP_SAMPLE_BYTES
        return ends or before // size != self._sample_bytes // size

    def _count_line(self) -> bool:
        """
        Count a line, and return whether a step ends with it.
        """
        self._lines += 1
        if self._lines > limits.MAX_LINES:
            raise _TooCostlyError(
                f"the families that are read have more than {limits.MAX_LINES} lines"
            )
        return self._lines % limits.STEP_LINES == 0

    def _add_sample(self, family: _Family, start: int, end: int) -> MalformedExposition | None:
        """
        Return why the family cannot be used if the line is not as it must be.
        """
        if end - start > limits.MAX_LINE_BYTES:
            return MalformedExposition("one of its lines is too long", is_too_costly=True)
        if len(family.samples) >= limits.MAX_SAMPLES:
            why = f"it has more than {limits.MAX_SAMPLES} samples of {family.name}"
            return MalformedExposition(why, is_too_costly=True)
        sample = _parse_sample(self._body[start:end])
        if sample is None:
            return MalformedExposition(f"its lines of {family.name} cannot be read")
        family.samples.append(sample)
        return None


@lru_cache(maxsize=256)
def _sample_pattern(family: bytes, suffixes: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """
    Match the begin of a line whose name is that of the family and one of these suffixes.
    """
    return re.compile(
        rb"%b(?:%b)(?![a-zA-Z0-9_:])"
        % (re.escape(family), b"|".join(sorted(suffixes, reverse=True)))
    )


def _is_text_format(page: bytes) -> bool:
    """
    Return whether the first non-empty line belongs to the format; that of HTML or JSON does not.
    """
    head = page[: limits.MAX_LINE_BYTES].lstrip()
    first, _, _ = head.partition(b"\n")
    return not first or first.startswith(b"#") or _parse_sample(first) is not None


def _parse_sample(line: bytes) -> Sample | None:
    found = _SAMPLE.fullmatch(line.rstrip())
    if found is None:
        return None
    labels = _parse_labels(found["labels"] or b"")
    try:
        value = float(found["value"])
    except ValueError:
        return None
    return None if labels is None else Sample(found["name"].decode(), labels, value)


def _parse_labels(text: bytes) -> Mapping[str, str] | None:
    """
    Return None if the labels are malformed or one appears twice.
    """
    if _PLAIN_LABELS.fullmatch(text):
        parts = text.decode(errors="replace").split('"')
        plain = {
            name.strip(",="): value for name, value in zip(parts[::2], parts[1::2], strict=False)
        }
        return plain if len(plain) == len(parts) // 2 else None
    labels: dict[str, str] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None or found[1].decode() in labels:
            return None
        labels[found[1].decode()] = _unescape(found[2]).decode(errors="replace")
        at = found.end()
    return labels


def _unescape(value: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: _UNESCAPED[found[1]], value) if b"\\" in value else value
