"""
Odd JSON values: texts, times, numbers and bytes that no correct server sends.

Some of them are bytes, because no Python value encodes to them: repeated keys, endless numbers and
nesting, text that is not UTF-8.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import reporter


@dataclass(frozen=True)
class Text:
    """Bytes that go into the JSON as they are."""

    raw: bytes

    def __repr__(self) -> str:
        return f"Text({self.raw[:60]!r})"


class Body(bytes):
    """An encoded body, whose repr is cut."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Body({bytes(self[:300])!r})"


def encoded(value: Any) -> Body:
    match value:
        case Text():
            return Body(value.raw)
        case Mapping():
            pairs = (json.dumps(k).encode() + b":" + encoded(v) for k, v in value.items())
            return Body(b"{" + b",".join(pairs) + b"}")
        case list() | tuple():
            return Body(b"[" + b",".join(map(encoded, value)) + b"]")
        case _:
            return Body(json.dumps(value).encode())


SECRET = "hunter2Xq7"
"""A secret, which no text of the reporter may contain."""

ODD_STRINGS = (
    "\x1b[31;1mred\x1b[0m",
    "\x1b]0;title\x07",
    "one\ntwo\r\nthree\u2028four",
    "2026-05-01T12:00:00Z ERROR reporter: forged",
    "\u202egnissim\u202c\u2066x\u2069",
    "\x00\x07\x08\x7f\x9b31m",
    "{namespace} {0} {object.__class__} %s %(x)s {{",
    f"password={SECRET}",
    f'{{"token": "{SECRET}"}}',
    f"https://bob:{SECRET}@registry.example/v2/?sig={SECRET}",
    f"Authorization: Bearer {SECRET}.{SECRET}",
    "../../../secrets/x?y=z#/%2e%2e",
    "a" * 5_000,
    "\U0001f525" * 500,
    "",
    " ",
    "-",
    "*",
    "null",
    "0",
    "1.5",
    "-1",
    "1" * 5_000,
    "1e999",
    "NaN",
    "Infinity",
    "٣",
    "²",
    "9" * 30,
)
TIMES = (
    "2026-05-01T11:59:30Z",
    "2026-05-01T12:00:30Z",
    "2026-05-01T12:00:00.123456789Z",
    "2026-05-01T12:00:00",
    "2026-05-01T12:00:00+14:00",
    "1970-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-23:59",
    "2016-12-31T23:59:60Z",
    "0000-00-00T00:00:00Z",
    "12:00",
)
NUMBERS = (0, 1, 2, -1, 2**31 - 1, 2**31, -(2**31), 2**63, 10**40, 0.5, -0.0, 1e308)
DEEP = tuple(
    Text(opening * depth + inner + closing * depth)
    for depth in (60, 20_000)
    for opening, inner, closing in ((b"[", b"", b"]"), (b'{"a":', b"1", b"}"))
)
BROKEN = (
    Text(b"1e400"),
    Text(b"1" + b"0" * 5_000),
    Text(b'"\xff\xfe"'),
    Text(b'"\\ud800"'),
    Text(b"NaN"),
    Text(b'{"name":"a","name":"b","metadata":{},"metadata":null}'),
    Text(b'{"":null,"\\u0000":{}}'),
    *DEEP,
)


@cache
def words() -> tuple[str, ...]:
    """Return the string literals of the stages and the model: values that reach their branches."""
    sources = Path(reporter.__file__).parent
    files = [*(sources / "stages").rglob("*.py"), *(sources / "model").rglob("*.py")]
    found = {w for file in files for w in re.findall(r'"([^"\s{}]{2,60})"', file.read_text())}
    return tuple(sorted(found))


texts = (
    st.sampled_from(ODD_STRINGS) | st.sampled_from(TIMES) | st.sampled_from(words()) | st.text()
)
scalars = st.none() | st.booleans() | st.sampled_from(NUMBERS) | texts
odd_values = st.one_of(
    scalars,
    st.sampled_from(BROKEN),
    st.lists(scalars, max_size=2),
    st.dictionaries(st.sampled_from(words()) | st.text(max_size=3), scalars, max_size=2),
)
