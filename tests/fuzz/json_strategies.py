"""Strategies for JSON of the right shape that is odd in one place or in many."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

from tests.fuzz.odd_values import TIMES, Body, encoded, odd_values, texts


def of_type(kind: type, *, names: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """Draw values of a struct, sometimes odd in places; *names*: names that texts may refer to."""
    return _of_type(kind, tuple(names))


@cache
def _of_type(kind: type, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    # Hypothesis analyses each strategy object at its first draw.
    return _of(inspect.type_info(kind), names)


def _of(info: Any, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    wanted = _wanted(info, names)
    # One in twelve: with more, hardly any object could be decoded.
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


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each part of a value, without the value itself."""
    if isinstance(value, Mapping):
        inner: Any = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return []
    return [p for key, each in inner for p in ((*path, key), *places(each, (*path, key)))]


def replaced_at(value: Any, path: Sequence[Any], new: Any) -> Any:
    """Return a copy of a value with *new* at that path."""
    if not path:
        return new
    key, *rest = path
    if isinstance(value, Mapping):
        return {**value, key: replaced_at(value[key], rest, new)}
    return [*value[:key], replaced_at(value[key], rest, new), *value[key + 1 :]]


@st.composite
def mutated(draw, value: Any, *, most: int = 4) -> Any:
    """Draw the value with odd values, of any type, in some places."""
    for _ in range(draw(st.integers(1, most))):
        where = places(value)
        if where:
            value = replaced_at(value, draw(st.sampled_from(where)), draw(odd_values))
    return value


@st.composite
def perturbed(draw, value: Any, *, most: int = 4) -> Any:
    """Draw the value with other values of the same types, mostly in its status."""
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
            others = {
                "reason": texts,
                "message": texts,
                "lastTransitionTime": st.sampled_from(TIMES),
            }
            states = st.sampled_from(["False", "Unknown", "True"])
            return st.fixed_dictionaries({"type": st.just(kind), "status": states, **others})
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
    """Draw the bytes, possibly cut, doubled or with foreign bytes in them."""
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
    """Draw the encoded bytes of a struct, intact or corrupted."""
    return of_type(kind, **about).map(encoded).flatmap(lambda raw: st.just(raw) | corrupted(raw))
