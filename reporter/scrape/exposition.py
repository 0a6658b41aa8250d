"""
Parse a few metric families of a page in the Prometheus text format. Pure.

A page of vLLM has 1,100 lines of which a handful is wanted. So only the blocks behind the wanted
``# TYPE`` lines are parsed, which one search finds however many families are wanted; a full parser
takes hundreds of times as long. Of histograms, which are most of a page, the buckets are left out.
Format: Prometheus documentation, "Exposition formats".

A page may be hostile. All work is counted, and is done in steps of about a millisecond.
"""

import re
from collections.abc import Collection, Generator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from reporter.scrape import limits
from reporter.scrape.samples import Sample


_SAMPLE = re.compile(
    rb"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:[ \t]*+\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\}[ \t]*+|[ \t]++)'
    rb"(?P<value>[^ \t{_]++)"
    rb"(?:[ \t]++[-+.0-9eE]++)?(?:[ \t]++#.*)?[ \t]*"
)
_PLAIN_LABELS = re.compile(rb'(?:[a-zA-Z_][a-zA-Z0-9_]*+="[^"\\]*+"(?:,|$))*+')
"""Labels without escapes and spaces, as all client libraries write most of them."""

_PLAIN_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*+)="([^"]*+)"')

_LABEL = re.compile(
    rb'[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]++|\\.)*+)"[ \t]*+(?:,[ \t]*+|$)'
)
_ESCAPED = re.compile(rb'\\([\\"n])')
_UNESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n"}

SampleLabels: TypeAlias = Mapping[str, str] | None
"""The labels of a sample; None if they are malformed or one appears twice."""


def parse_plain_sample(line: bytes, names: Mapping[bytes, str]) -> Sample | None:
    """
    Return the sample of a line with one of some names and plain labels; None for any other line.

    It is what `parse_sample` returns, three times as fast: such labels have no brace outside of quotes,
    so they end at the last one if nothing but a number follows.
    """
    name, _, rest = line.partition(b"{")
    text, end, number = rest.rpartition(b"} ")
    # For Python alone 1_000 is a number, and a carriage return before one is nothing.
    if name not in names or not end or b"_" in number or number[:1].isspace():
        return None
    labels = _known_labels(text) if len(text) <= limits.MAX_KNOWN_LABEL_BYTES else None
    try:
        return None if labels is None else Sample(names[name], labels, float(number))
    except ValueError:
        return None


def parse_sample(line: bytes) -> Sample | None:
    """Return the sample of a line of the text format, its labels unescaped; None if it is none."""
    found = _SAMPLE.fullmatch(line.rstrip())
    if found is None:
        return None
    name, text, number = found.group("name", "labels", "value")
    labels = _parse_labels(text or b"")
    try:
        value = float(number)
    except ValueError:
        return None
    return None if labels is None else Sample(name.decode(), labels, value)


def _parse_labels(text: bytes) -> SampleLabels:
    plain = _parse_plain_labels(text)
    if plain is not None:
        return plain
    labels: dict[str, str] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None or found[1].decode() in labels:
            return None
        labels[found[1].decode()] = _unescape(found[2]).decode(errors="replace")
        at = found.end()
    return labels


def _parse_plain_labels(text: bytes) -> SampleLabels:
    if not _PLAIN_LABELS.fullmatch(text):
        return None
    pairs = _PLAIN_LABEL.findall(text.decode(errors="replace"))
    labels = dict(pairs)
    return labels if len(labels) == len(pairs) else None


_known_labels = lru_cache(maxsize=limits.MAX_KNOWN_LABELS)(_parse_plain_labels)
"""Parse labels once for all pages. Samples share the result, which nothing changes."""


def _unescape(value: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: _UNESCAPED[found[1]], value) if b"\\" in value else value


_SUFFIXES_BY_TYPE: Mapping[bytes, tuple[bytes, ...]] = {
    b"histogram": (b"_sum", b"_count"),
    b"summary": (b"", b"_sum", b"_count"),
}
_ALL_SUFFIXES = (b"", b"_sum", b"_count")
_TYPE = b"# TYPE "

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
    The samples of each requested family in the order of the page, or why it cannot be used.

    *prefixes*: the requested ones with which the name of some family begins.
    """

    families: Mapping[str, tuple[Sample, ...] | MalformedExposition]
    prefixes: frozenset[str]


def parse_page(
    page: bytes,
    families: Collection[str],
    prefixes: Collection[str] = (),
    *,
    missing: Collection[str] = (),
) -> Steps:
    """
    Parse a page in steps, yielding between them; return its content or why it cannot be used.

    *families*: each named as on its ``# TYPE`` line. *missing*: those without a sample on a page before;
    if they have no ``# TYPE`` line on this one either, it is searched once and not twice.
    """
    if page and not page.endswith(b"\n"):
        # The format ends every line with a line feed, so the rest of the page was lost.
        return MalformedExposition("it is cut off: its last line has no end")
    if not _is_text_format(page):
        return MalformedExposition("it is not in the Prometheus text format")
    parser = _PageParser(page, families)
    try:
        yield from parser.parse_families(missing)
        yield from parser.find_prefixes(prefixes)
    except _TooCostlyError as err:
        if missing:
            # Lines of a family that is not missing here were counted twice.
            return (yield from parse_page(page, families, prefixes))
        return MalformedExposition(str(err), is_too_costly=True)
    return parser.content()


class _TooCostlyError(Exception):
    pass


class _SampleLines(NamedTuple):
    """
    The lines of a family's samples: a pattern of the line feed and one of them, and their names.
    """

    pattern: re.Pattern[bytes]
    names: Mapping[bytes, str]


_NOT_FOUND = _SampleLines(re.compile(rb"(?!)"), {})


class _Family(Struct):
    """A requested family as far as it was found. *lines*: of its samples."""

    name: str
    lines: _SampleLines = _NOT_FOUND
    samples: list[Sample] = field(default_factory=list)
    failure: MalformedExposition | None = None


class _PageParser:
    """*body*: a page whose last line is whole."""

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

    def parse_families(self, missing: Collection[str]) -> Generator[None, None, None]:
        """Parse the blocks behind ``# TYPE`` lines, and then the lines of families without one."""
        guess = tuple(name for name, each in self._families.items() if each.name in missing)
        lines = yield from self._parse_blocks(_block_pattern(tuple(self._families), guess))
        untyped = tuple(name for name, each in self._families.items() if each.lines is _NOT_FOUND)
        if untyped != guess:
            lines = yield from self._parse_blocks(_line_pattern(b"", untyped))
        for found in lines:
            if self._parse_untyped(found):
                yield

    def _parse_blocks(
        self, wanted: "_LinePattern | None"
    ) -> Generator[None, None, list["_FoundLine"]]:
        """Parse the blocks behind the ``# TYPE`` lines that are wanted, and return the other lines."""
        others: list[_FoundLine] = []
        for found in self._find_lines(wanted):
            if found is None or self._count_lines(1):
                yield
            if found is None:
                continue
            if self._body.startswith(b"#", found[0]):
                yield from self._parse_block(found)
            else:
                others.append(found)
        return others

    def _parse_untyped(self, found: "_FoundLine") -> bool:
        """
        Parse a line of a family without a ``# TYPE`` line; return whether a step ends with it.

        A line of several of them is of the one with the longest name.
        """
        start, end = found
        family = self._families[self._body[start:end]]
        family.lines = _sample_lines(self._body[start:end], _ALL_SUFFIXES)
        line = b"\n" + self._body[start : self._body.find(b"\n", start)]
        return family.failure is None and self._parse_lines(family, line, (0, len(line)), 0)

    def find_prefixes(self, prefixes: Collection[str]) -> Generator[None, None, None]:
        for prefix in prefixes:
            for begin in (_TYPE, b""):
                for found in self._find_lines(_line_pattern(begin, (prefix.encode(),))):
                    if found is not None:
                        self._prefixes.add(prefix)
                        break
                    yield
                if prefix in self._prefixes:
                    break

    def _parse_block(self, found: "_FoundLine") -> Generator[None, None, None]:
        """
        Parse the lines after a ``# TYPE`` line, to the next one of any family or the end of the page.
        """
        body, last = self._body, len(self._body) - 1
        name = body[found[0] + len(_TYPE) : found[1] - len(b" ")]
        at = body.find(b"\n", found[1])
        family, kind = self._families[name], body[found[1] : at].strip()
        family.lines = _sample_lines(name, _SUFFIXES_BY_TYPE.get(kind, (b"",)))
        size = limits.STEP_SAMPLE_BYTES
        while at < last and family.failure is None:
            end = body.find(b"\n# TYPE ", at, at + size)
            if end < 0:
                end = last if last - at < size else body.rfind(b"\n", at + 1, at + size)
            if end < 0:
                end = body.find(b"\n", at + 1)
            lines = body.count(b"\n", at, end)
            if lines > limits.STEP_LINES and size > limits.STEP_LINES:
                size = limits.STEP_LINES  # no more lines than bytes
                continue
            if self._parse_lines(family, body, (at, end), lines):
                yield
            if body.startswith(b"\n# TYPE ", end):
                return
            at = end

    def _find_lines(
        self, wanted: "_LinePattern | None"
    ) -> Generator["_FoundLine | None", None, None]:
        """Yield each line that begins as wanted, and None where other tasks may run."""
        if wanted is None:
            return
        pattern, longest = wanted
        first = pattern.match(b"\n" + self._body[:longest])
        if first is not None:
            yield 0, first.end() - 1
        at, body = 0, self._body
        while True:
            found = pattern.search(body, at, at + limits.STEP_BYTES)
            if found is not None:
                if found.start() + longest > at + limits.STEP_BYTES:  # the name may be cut off
                    found = pattern.match(body, found.start()) or found
                yield found.start() + 1, found.end()
                at = found.start() + 1
            elif at + limits.STEP_BYTES >= len(body):
                return
            else:
                at += limits.STEP_BYTES - longest
                yield None

    def _parse_lines(
        self, family: _Family, text: bytes, place: tuple[int, int], lines: int
    ) -> bool:
        """
        Parse the samples of a family in some lines, and return whether a step ends with them.

        *place*: of the line feeds before and after them in *text*.
        """
        ends, before = self._count_lines(lines), self._sample_bytes
        pattern, names = family.lines
        for line in pattern.findall(text, *place):
            self._sample_bytes += len(line)
            if self._sample_bytes > limits.MAX_SAMPLE_BYTES:
                raise _TooCostlyError(
                    f"the samples that are read have more than {limits.MAX_SAMPLE_BYTES} bytes"
                )
            if len(line) > limits.MAX_LINE_BYTES or len(family.samples) >= limits.MAX_SAMPLES:
                family.failure = _too_costly(family, line)
                break
            sample = parse_plain_sample(line, names) or parse_sample(line)
            if sample is None:
                family.failure = MalformedExposition(f"its lines of {family.name} cannot be read")
                break
            family.samples.append(sample)
        size = limits.STEP_SAMPLE_BYTES
        return ends or before // size != self._sample_bytes // size

    def _count_lines(self, number: int) -> bool:
        """Count lines, and return whether a step ends with them."""
        before = self._lines
        self._lines += number
        if self._lines > limits.MAX_LINES:
            raise _TooCostlyError(
                f"the families that are read have more than {limits.MAX_LINES} lines"
            )
        return before // limits.STEP_LINES != self._lines // limits.STEP_LINES


def _too_costly(family: _Family, line: bytes) -> MalformedExposition:
    """Return why a family cannot be used of which this line is too long, or one too many."""
    why = f"it has more than {limits.MAX_SAMPLES} samples of {family.name}"
    if len(line) > limits.MAX_LINE_BYTES:
        why = "one of its lines is too long"
    return MalformedExposition(why, is_too_costly=True)


_FoundLine: TypeAlias = tuple[int, int]
"""The start of a line that was found, and the end of the part of it that was looked for."""

_LinePattern: TypeAlias = tuple[re.Pattern[bytes], int]
"""
A pattern of the line feed and the begin of a line, and the length of its longest match. It has no groups,
with which the search takes half as long again.
"""


@lru_cache(maxsize=64)
def _block_pattern(families: tuple[bytes, ...], untyped: tuple[bytes, ...]) -> _LinePattern | None:
    """Match the ``# TYPE`` lines of some families, and any lines of others."""
    if not families:
        return None
    either = b"%b(?:%b) " % (_TYPE, _any_of(families))
    if untyped:
        either += b"|" + _any_of(untyped)
    return re.compile(b"\n(?:%b)" % either), len(b"\n%b " % _TYPE) + max(map(len, families))


@lru_cache(maxsize=64)
def _line_pattern(begin: bytes, names: tuple[bytes, ...]) -> _LinePattern | None:
    """Match lines that begin so and with one of these names; None without a name."""
    if not names:
        return None
    pattern = re.compile(b"\n%b(?:%b)" % (re.escape(begin), _any_of(names)))
    return pattern, 1 + len(begin) + max(map(len, names))


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


@lru_cache(maxsize=256)
def _sample_lines(family: bytes, suffixes: tuple[bytes, ...]) -> _SampleLines:
    """Match lines whose name is that of the family and one of these suffixes."""
    pattern = re.compile(
        rb"\n(%b(?:%b)(?![a-zA-Z0-9_:])[^\n]*+)"
        % (re.escape(family), b"|".join(sorted(suffixes, reverse=True)))
    )
    return _SampleLines(pattern, {family + each: (family + each).decode() for each in suffixes})


def _is_text_format(page: bytes) -> bool:
    """
    Return whether the first non-empty line belongs to the format; that of HTML or JSON does not.
    """
    head = page[: limits.MAX_LINE_BYTES].lstrip()
    first, _, _ = head.partition(b"\n")
    return not first or first.startswith(b"#") or parse_sample(first) is not None
