"""
Parse a few metric families of a page in the Prometheus text format. Pure.

Of the 640 lines of a page of vLLM some twenty are wanted. One search finds these, however many families
are wanted; a full parser takes hundreds of times as long. A sample is what its name says, wherever it
stands, as for Prometheus itself: ``# TYPE`` lines are not read. Of a histogram, most of whose lines are
buckets, the number of its values is read. Format: Prometheus documentation, "Exposition formats".

A page may be hostile. All work is counted, and is done in steps of about a millisecond.
"""

import re
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from reporter.scrape import limits
from reporter.scrape.samples import COUNT_SUFFIX, PageSamples, Sample, ScrapedSeries, SeriesList


_SERIES_PATTERN = (
    rb"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:[ \t]*+\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\})?+'
)
_SERIES = re.compile(_SERIES_PATTERN)
_SAMPLE = re.compile(
    _SERIES_PATTERN + rb"(?:(?<=\})[ \t]*+|[ \t]++)"
    rb"(?P<value>[^ \t{_]++)"
    rb"(?:[ \t]++[-+.0-9eE]++)?(?:[ \t]++#.*)?[ \t]*"
)
_VALUE = re.compile(rb" ([-+.0-9a-zA-Z]++)\n")
"""The end of a line as client libraries write it, without a timestamp and an exemplar."""

_NAME = re.compile(rb"\n[a-zA-Z0-9_:]++")
_LABEL = re.compile(
    rb'[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]++|\\.)*+)"[ \t]*+(?:,[ \t]*+|$)'
)
_ESCAPED = re.compile(rb'\\([\\"n])')
_UNESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n"}


def parse_sample(line: bytes) -> Sample | None:
    """Return the sample of a line of the text format, its labels unescaped; None if it is none."""
    found = _SAMPLE.fullmatch(line.rstrip())
    series = _parse_series(found)
    if found is None or series is None:
        return None
    try:
        return Sample(series.name, series.labels, float(found["value"]))
    except ValueError:
        return None


def _parse_series(found: re.Match[bytes] | None) -> ScrapedSeries | None:
    if found is None:
        return None
    labels = _parse_labels(found["labels"] or b"")
    return None if labels is None else ScrapedSeries(found["name"].decode(), labels)


def _parse_labels(text: bytes) -> Mapping[str, str] | None:
    """Return the labels of a series; None if they are malformed or one appears twice."""
    labels: dict[str, str] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None:
            return None
        name = intern(found[1].decode())
        if name in labels:
            return None
        labels[name] = _unescape(found[2]).decode(errors="replace")
        at = found.end()
    return labels


def _unescape(value: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: _UNESCAPED[found[1]], value) if b"\\" in value else value


Steps: TypeAlias = Generator[None, None, "MetricsContent | MalformedExposition"]
"""Yields where other tasks may run, and returns the result."""


class MalformedExposition(Struct, frozen=True):
    """
    The reason why a page, or a family of it, cannot be used.

    *is_too_costly*: it has more than is read, so it should be fetched less often.
    """

    why: str
    is_too_costly: bool = False


class MetricsContent(Struct, frozen=True):
    """
    The samples of the requested *families*, in the order of the page.

    *failures*: why some of the families cannot be used. *prefixes*: the requested ones with which the name
    of some family begins.
    """

    families: tuple[str, ...]
    samples: PageSamples
    failures: Mapping[str, MalformedExposition]
    prefixes: frozenset[str]

    def samples_of(self, families: tuple[str, ...]) -> PageSamples | MalformedExposition:
        """Return the samples of some of the families, or why the first of those that fail cannot be used."""
        for name in families:
            if name in self.failures:
                return self.failures[name]
        if families == self.families:
            return self.samples
        of_sample = _wanted_lines(self.families).families

        def find(every: Sequence[ScrapedSeries]) -> tuple[SeriesList, Sequence[int]]:
            found = [at for at, each in enumerate(every) if of_sample[each.name] in families]
            return SeriesList(every[at] for at in found), found

        series, positions = self.samples.series.derive((self.families, families), find)
        return PageSamples(series, tuple(self.samples.values[at] for at in positions))


def parse_page(page: bytes, families: Collection[str], prefixes: Collection[str] = ()) -> Steps:
    """
    Parse a page in steps, yielding between them; return its content or why it cannot be used.

    *families*: names of samples, or what those of a histogram or summary have before COUNT_SUFFIX.
    """
    if page and not page.endswith(b"\n"):
        # The format ends every line with a line feed, so the rest of the page was lost.
        return MalformedExposition("it is cut off: its last line has no end")
    if not _is_text_format(page):
        return MalformedExposition("it is not in the Prometheus text format")
    parser = _PageParser(page, families)
    try:
        yield from parser.parse_families()
        yield from parser.find_prefixes(prefixes)
    except _TooCostlyError as err:
        return MalformedExposition(str(err), is_too_costly=True)
    return parser.content()


class _TooCostlyError(Exception):
    pass


class _PageParser:
    """*body*: a page whose last line is whole."""

    def __init__(self, body: bytes, families: Collection[str]) -> None:
        self._body, self._families = body, tuple(families)
        self._found: list[PageSamples] = []
        self._failures: dict[str, MalformedExposition] = {}
        self._prefixes: set[str] = set()

    def content(self) -> MetricsContent:
        """Return what was found so far."""
        samples = self._found[0] if len(self._found) == 1 else _join(self._found)
        if len(samples) > limits.MAX_SAMPLES:
            self._refuse_many(samples)
        return MetricsContent(self._families, samples, self._failures, frozenset(self._prefixes))

    def parse_families(self) -> Generator[None, None, None]:
        """Parse the lines of all families, as many at once as make a step."""
        if not self._families:
            return
        wanted = _wanted_lines(self._families)
        lines: list[bytes] = []
        size, whole = 0, 0
        for line in self._search(wanted.pattern):
            if line is None:
                yield
                continue
            cost = max(len(line), limits.LEAST_LINE_BYTES)
            if lines and size + cost > limits.STEP_SAMPLE_BYTES:
                self._found.append(self._parse_lines(lines, wanted))
                yield
                lines, size = [], 0
            lines.append(line)
            size, whole = size + cost, whole + cost
            if whole > limits.MAX_SAMPLE_BYTES:
                raise _TooCostlyError(
                    f"the samples that are read have more than {limits.MAX_SAMPLE_BYTES} bytes"
                )
        if lines:
            self._found.append(self._parse_lines(lines, wanted))

    def find_prefixes(self, prefixes: Collection[str]) -> Generator[None, None, None]:
        """Look for a sample, or a ``# TYPE`` line, with a name that begins with each prefix."""
        for prefix in prefixes:
            for found in self._search(_prefix_pattern(prefix.encode())):
                if found is not None:
                    self._prefixes.add(prefix)
                    break
                yield

    def _search(self, pattern: re.Pattern[bytes]) -> Iterator[bytes | None]:
        """Yield each match of a line feed and a line, and None between two steps."""
        body, at, last = self._body, 0, len(self._body) - 1
        first = pattern.match(b"\n" + body[: body.find(b"\n")])
        if first is not None:
            yield first[0]
        while at < last:
            end = last if last - at <= limits.STEP_BYTES else self._last_line_feed(at)
            for found in pattern.finditer(body, at, end):
                yield found[0]
            if end < last:
                yield None
            at = end

    def _last_line_feed(self, at: int) -> int:
        """Return where a step from *at* ends: before a line, which may be longer than a step."""
        found = self._body.rfind(b"\n", at + 1, at + limits.STEP_BYTES)
        return found if found >= 0 else self._body.find(b"\n", at + 1)

    def _parse_lines(self, lines: Sequence[bytes], wanted: "_WantedLines") -> PageSamples:
        plain = _parse_plain_samples(lines)
        if plain is not None:
            return plain
        samples = (self._parse_line(line, wanted) for line in lines)
        return PageSamples.from_samples(each for each in samples if each is not None)

    def _parse_line(self, line: bytes, wanted: "_WantedLines") -> Sample | None:
        """Return the sample of a line; None for one that cannot be read, which fails its family."""
        is_long = len(line) > limits.MAX_LINE_BYTES
        sample = None if is_long else parse_sample(line[1:])
        if sample is None:
            family = wanted.family_of(line)
            why = (
                "one of its lines is too long"
                if is_long
                else f"its lines of {family} cannot be read"
            )
            self._failures.setdefault(family, MalformedExposition(why, is_too_costly=is_long))
        return sample

    def _refuse_many(self, samples: PageSamples) -> None:
        """Fail the families that have too many samples."""
        of_sample = _wanted_lines(self._families).families
        numbers = Counter(of_sample[each.name] for each in samples.series.entries)
        for family, number in numbers.items():
            if number > limits.MAX_SAMPLES:
                why = f"it has more than {limits.MAX_SAMPLES} samples of {family}"
                self._failures.setdefault(family, MalformedExposition(why, is_too_costly=True))


def _join(parts: Sequence[PageSamples]) -> PageSamples:
    series = SeriesList(each for part in parts for each in part.series.entries)
    return PageSamples(series, [value for part in parts for value in part.values])


def _parse_plain_samples(lines: Sequence[bytes]) -> PageSamples | None:
    """
    Return the samples of lines as client libraries write them; None if one is another, or a long one.

    It is what `parse_sample` returns of each, in a tenth of the time.
    """
    text = b"".join((*lines, b"\n"))[1:]
    if len(text) > limits.STEP_SAMPLE_BYTES:
        return None
    parts = _VALUE.split(text)  # a series and its value by turns, and the empty end
    if len(parts) <= 2 * len(lines):
        return None
    try:
        values = [float(each) for each in parts[1::2]]
        return PageSamples(_known_series(b"\n".join(parts[:-1:2])), values)
    except ValueError:
        return None


@lru_cache(maxsize=limits.MAX_KNOWN_PAGES)
def _known_series(text: bytes) -> SeriesList:
    """
    Return the series of a text with one in each line. Raises ValueError if one of them is none.

    The labels of a page are parsed once: the next one has the same series, and other values.
    """
    found: list[ScrapedSeries] = []
    known: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
    for line in text.split(b"\n"):
        series = _parse_series(_SERIES.fullmatch(line))
        if series is None:
            raise ValueError("a line has no series")
        labels = known.setdefault(tuple(series.labels.items()), series.labels)
        found.append(ScrapedSeries(intern(series.name), labels))
    return SeriesList(found)


class _WantedLines(NamedTuple):
    """
    A pattern of a line feed and a line of some families, and the family of each sample by its name.

    The pattern has no groups, with which the search takes half as long again.
    """

    pattern: re.Pattern[bytes]
    families: Mapping[str, str]

    def family_of(self, line: bytes) -> str:
        """Return the family of a line that the pattern matches."""
        found = _NAME.match(line)
        if found is None:
            raise ValueError("a line that the pattern matches begins with a name")
        return self.families[found[0][1:].decode()]


@lru_cache(maxsize=64)
def _wanted_lines(families: tuple[str, ...]) -> _WantedLines:
    """Match the lines of some families. A sample that could be of two is of the one with its own name."""
    of_sample = {f"{family}{COUNT_SUFFIX}": family for family in families}
    of_sample |= {family: family for family in families}
    pattern = rb"\n(?:%b)(?:%b)?(?![a-zA-Z0-9_:])[^\n]*+" % (
        _any_of([family.encode() for family in families]),
        COUNT_SUFFIX.encode(),
    )
    return _WantedLines(re.compile(pattern), of_sample)


@lru_cache(maxsize=64)
def _prefix_pattern(prefix: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n(?:# TYPE )?%b" % re.escape(prefix))


def _any_of(names: Collection[bytes]) -> bytes:
    """
    Return a pattern of any of some names, the longest first, to stand alone or in a group.

    At each line of a page it looks once at what names begin with, and not once for each.
    """
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    shared = next((at for at, (one, other) in pairs if one != other), len(first))
    rests: dict[bytes, set[bytes]] = {}
    for name in sorted(names, reverse=True):
        rests.setdefault(name[shared : shared + 1], set()).add(name[shared:])
    begin = re.escape(first[:shared])
    if len(rests) == 1:
        return begin
    either = b"|".join(_any_of(each) for each in rests.values())
    return b"%b(?:%b)" % (begin, either) if begin else either


def _is_text_format(page: bytes) -> bool:
    """
    Return whether the first non-empty line belongs to the format; that of HTML or JSON does not.
    """
    head = page[: limits.MAX_LINE_BYTES].lstrip()
    first, _, _ = head.partition(b"\n")
    return not first or first.startswith(b"#") or parse_sample(first) is not None
