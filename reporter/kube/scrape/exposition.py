"""
Parse a few metric families of a page in the Prometheus text format.

A page of vLLM has 1,700 lines of which a handful is wanted. So only the blocks behind the wanted
``# TYPE`` lines are read; a full parser takes hundreds of times as long. Format: Prometheus
documentation, "Exposition formats".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from reporter.kube.scrape.limits import MAX_LINE_BYTES, MAX_SAMPLES
from reporter.model.metrics.samples import Sample


_SAMPLE = re.compile(
    rb"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:[ \t]*+\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*+")*+)\}[ \t]*+|[ \t]++)'
    rb"(?P<value>[^ \t{_]++)"
    rb"(?:[ \t]++[-+.0-9eE]++)?(?:[ \t]++#.*)?[ \t]*"
)
_LABEL = re.compile(
    rb'[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]|\\.)*+)"[ \t]*+(?:,[ \t]*+|$)'
)
_ESCAPED = re.compile(rb'\\([\\"n])')
_UNESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n"}
_SUFFIXES_BY_TYPE: Mapping[bytes, tuple[bytes, ...]] = {
    b"histogram": (b"_bucket", b"_sum", b"_count"),
    b"summary": (b"", b"_sum", b"_count"),
}
_ALL_SUFFIXES = (b"", b"_bucket", b"_sum", b"_count")

_Line: TypeAlias = tuple[bytes, frozenset[bytes]]
"""
A line, and the sample names that its family may have.
"""


@dataclass(frozen=True, slots=True)
class MalformedExposition:
    """
    The reason why a page is not in the text format, or is incomplete.
    """

    why: str


class _ExpositionError(Exception):
    pass


def parse_samples(
    page: bytes, families: Iterable[str]
) -> tuple[Sample, ...] | MalformedExposition:
    """
    Return the samples of these families, in the order of the families and then of the page.

    A family is named as on its ``# TYPE`` line.
    """
    if page and not page.endswith(b"\n"):
        # The format ends every line with a line feed, so the rest of the page was lost.
        return MalformedExposition("it is cut off: its last line has no end")
    if not _is_text_format(page):
        return MalformedExposition("it is not in the Prometheus text format")
    body = b"\n" + page
    try:
        found = [sample for each in families for sample in _parse_family(body, each.encode())]
    except _ExpositionError as err:
        return MalformedExposition(str(err))
    return tuple(found)


def has_family(page: bytes, prefix: str) -> bool:
    """
    Return whether the name of any family begins with *prefix*.
    """
    name = prefix.encode()
    marks = (name, b"# TYPE " + name)
    return page.startswith(marks) or any(b"\n" + mark in page for mark in marks)


def _is_text_format(page: bytes) -> bool:
    """
    Return whether the first non-empty line belongs to the format; that of HTML or JSON does not.
    """
    head = page[:MAX_LINE_BYTES].lstrip()
    first, _, _ = head.partition(b"\n")
    return not first or first.startswith(b"#") or _parse_sample(first) is not None


def _parse_family(body: bytes, family: bytes) -> Iterator[Sample]:
    """
    Parse the blocks of a family; without a ``# TYPE`` line, all lines that begin with its name.
    """
    blocks = _typed_lines(body, family)
    count = 0
    for line, names in _untyped_lines(body, family) if blocks is None else blocks:
        if len(line) > MAX_LINE_BYTES:
            raise _ExpositionError("one of its lines is too long")
        sample = _parse_sample(line)
        if sample is None:
            raise _ExpositionError(f"its lines of {family.decode()} cannot be read")
        if sample.name.encode() in names:
            count += 1
            if count > MAX_SAMPLES:
                raise _ExpositionError(
                    f"it has more than {MAX_SAMPLES} samples of {family.decode()}"
                )
            yield sample


def _typed_lines(body: bytes, family: bytes) -> list[_Line] | None:
    """
    Return the sample lines of a family's blocks; None if it has no ``# TYPE`` line.
    """
    mark = b"\n# TYPE " + family + b" "
    start = body.find(mark)
    lines: list[_Line] | None = None if start < 0 else []
    while lines is not None and start >= 0:
        after = _other_family_pattern(family).search(body, start + len(mark))
        end = after.start() if after is not None else len(body)
        kind, *block = body[start + len(mark) : end].split(b"\n")
        names = frozenset(
            family + suffix for suffix in _SUFFIXES_BY_TYPE.get(kind.strip(), (b"",))
        )
        lines += [(line, names) for line in block if line.startswith(family)]
        start = body.find(mark, end)
    return lines


def _untyped_lines(body: bytes, family: bytes) -> Iterator[_Line]:
    names = frozenset(family + suffix for suffix in _ALL_SUFFIXES)
    for found in _sample_line_pattern(family).finditer(body):
        yield body[found.start() + 1 : body.find(b"\n", found.end())], names


@lru_cache(maxsize=64)
def _sample_line_pattern(family: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n" + re.escape(family) + rb"(?:_bucket|_sum|_count)?[ \t{]")


@lru_cache(maxsize=64)
def _other_family_pattern(family: bytes) -> re.Pattern[bytes]:
    """
    Match the first line of another family's block.
    """
    return re.compile(rb"\n# (?:TYPE|HELP) (?!" + re.escape(family) + rb"[ \t\r\n])")


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
