"""Parse one sample line of a page in the Prometheus text format. Pure."""

import re
from collections.abc import Mapping

from reporter.model.metrics.samples import Sample


_SAMPLE = re.compile(
    rb"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:[ \t]*+\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\}[ \t]*+|[ \t]++)'
    rb"(?P<value>[^ \t{_]++)"
    rb"(?:[ \t]++[-+.0-9eE]++)?(?:[ \t]++#.*)?[ \t]*"
)
_PLAIN_LABELS = re.compile(rb'(?:[a-zA-Z_][a-zA-Z0-9_]*+="[^"\\]*+"(?:,|$))*+')
"""Labels without escapes and spaces, as all client libraries write most of them."""

_LABEL = re.compile(
    rb'[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]++|\\.)*+)"[ \t]*+(?:,[ \t]*+|$)'
)
_ESCAPED = re.compile(rb'\\([\\"n])')
_UNESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n"}


def parse_sample(line: bytes) -> Sample | None:
    """Return None if the line is no sample."""
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
    """Return None if the labels are malformed or one appears twice."""
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
