"""
JSON that no correct client sends: right in its shape, odd in one place or in many.

The strategies draw bytes, because some oddities are not values: duplicate keys, endless numbers
and nesting, text that is not UTF-8.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

import reporter


@dataclass(frozen=True)
class Text:
    """
    A literal text of the JSON document.
    """

    raw: bytes

    def __repr__(self) -> str:
        return f"Text({self.raw[:60]!r})"


class Body(bytes):
    """
    A body whose repr shows only its beginning.
    """

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
"""
A text that no output of the reporter may contain.
"""

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
    """
    Return the texts that decisions compare with, and that lead into their branches.
    """
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


# ---------------------------------------------------------------- by the types that we decode


def of_type(kind: type, *, names: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """
    Draw values of a struct, now and then odd in places. *names*: names that texts may refer to.
    """
    return _of(inspect.type_info(kind), tuple(names))


def _of(info: Any, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    wanted = _wanted(info, names)
    # One in a dozen: more, and hardly any object could be decoded.
    return st.integers(0, 11).flatmap(lambda n: odd_values if n == 11 else wanted)


_PLAIN: Mapping[type, st.SearchStrategy[Any]] = {
    inspect.BoolType: st.booleans(),
    inspect.IntType: st.integers(-1, 4) | st.sampled_from((2**31, 10**18, -(10**18))),
    inspect.DateTimeType: st.sampled_from(TIMES),
}


def _wanted(info: Any, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    match info:
        case inspect.StructType():
            return st.deferred(lambda: _struct(info, names))
        case inspect.UnionType():
            known = [each for each in info.types if not isinstance(each, inspect.NoneType)]
            either = st.one_of(*(_wanted(each, names) for each in known))
            return st.integers(0, 7).flatmap(lambda n: st.none() if n == 7 else either)
        case inspect.VarTupleType() | inspect.ListType():
            return st.lists(_of(info.item_type, names), max_size=3)
        case inspect.DictType():
            return st.dictionaries(texts, texts | st.sampled_from(names or ("x",)), max_size=3)
        case inspect.StrType():
            return st.sampled_from((*names, "True", "False", "Unknown")) | texts
        case _:
            return _PLAIN.get(type(info), odd_values)


def _struct(info: Any, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    fields = [(f.encode_name, f.required, _of(f.type, names)) for f in info.fields]

    @st.composite
    def drawn(draw: Any) -> dict[str, Any]:
        sparse = draw(st.integers(0, 3))
        unknown = {"unknown": draw(odd_values)} if draw(st.integers(0, 7)) == 7 else {}
        return unknown | {
            name: draw(value)
            for name, required, value in fields
            if required or draw(st.integers(0, 3)) >= sparse
        }

    return drawn()


# ---------------------------------------------------------------- from what is right


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """
    Return the path of each part of a value, except the value itself.
    """
    if isinstance(value, Mapping):
        inner: Any = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return []
    return [p for key, each in inner for p in ((*path, key), *places(each, (*path, key)))]


def replaced_at(value: Any, path: Sequence[Any], new: Any) -> Any:
    """
    Return a copy of the value with *new* at that place.
    """
    if not path:
        return new
    key, *rest = path
    if isinstance(value, Mapping):
        return {**value, key: replaced_at(value[key], rest, new)}
    return [*value[:key], replaced_at(value[key], rest, new), *value[key + 1 :]]


@st.composite
def mutated(draw, value: Any, *, most: int = 4) -> Any:
    """
    Replace some places by values of any type.
    """
    for _ in range(draw(st.integers(1, most))):
        where = places(value)
        if where:
            value = replaced_at(value, draw(st.sampled_from(where)), draw(odd_values))
    return value


@st.composite
def perturbed(draw, value: Any, *, most: int = 4) -> Any:
    """
    Replace some values by others of the same type, mostly in the status.
    """
    for _ in range(draw(st.integers(1, most))):
        part = draw(
            st.sampled_from([p for p in ("status", "status", "spec") if p in value] or [""])
        )
        where = [path for path in places(value) if not part or path[0] == part]
        if where:
            path = draw(st.sampled_from(where))
            value = replaced_at(value, path, draw(_other(value_at(value, path))))
    return value


def value_at(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def _other(value: Any) -> st.SearchStrategy[Any]:
    match value:
        case {"type": kind, "status": _}:
            told = {
                "reason": texts,
                "message": texts,
                "lastTransitionTime": st.sampled_from(TIMES),
            }
            states = st.sampled_from(["False", "Unknown", "True"])
            return st.fixed_dictionaries({"type": st.just(kind), "status": states, **told})
        case Mapping():
            return st.sampled_from([{}, *({k: value[k]} for k in value)])
        case list():
            return st.sampled_from([None, [], value[:1], value + value])
        case bool() | int():
            return _PLAIN[inspect.BoolType if isinstance(value, bool) else inspect.IntType]
        case str() if value[:2] == "20" and value.endswith("Z"):
            return st.sampled_from(TIMES)
        case str() if value in {"True", "False"}:
            return st.sampled_from(["False", "Unknown"])
    return texts


@st.composite
def corrupted(draw, raw: bytes) -> Body:
    """
    Corrupt a body: cut it, double it, or insert bytes that do not belong there.
    """
    at, until = sorted(draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
    match draw(st.sampled_from(["whole", "cut", "without", "doubled", "stuffed"])):
        case "cut":
            raw = raw[:at]
        case "without":
            raw = raw[:at] + raw[until:]
        case "doubled":
            raw = raw[:until] + raw[at:]
        case "stuffed":
            raw = raw[:at] + draw(st.binary(max_size=8)) + raw[at:]
    return Body(raw)


def json_of(kind: type, **about: Any) -> st.SearchStrategy[Body]:
    """
    Return a strategy for the bytes of a struct, some of them corrupted.
    """
    return of_type(kind, **about).map(encoded).flatmap(lambda raw: st.just(raw) | corrupted(raw))
