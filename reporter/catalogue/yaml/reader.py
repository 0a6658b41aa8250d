"""
Convert YAML nodes to typed values, and report every problem with its line.

msgspec stops at the first problem. So a node that it refuses is divided into its parts, which are
converted one by one: each part is read once for each level above it, however many problems it has.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, Items, Node, Scalar, to_plain
from reporter.catalogue.yaml.type_descriptions import describe_type, field_meaning
from reporter.catalogue.yaml.type_parts import item_type, struct_fields, without_unset


S = TypeVar("S", bound=msgspec.Struct)
NodePath: TypeAlias = tuple[str | int, ...]
"""The keys and list indexes that lead from the root to a node."""


class _Part(NamedTuple):
    """A node and the type that it must have. *place*: the line that errors about it name."""

    path: NodePath
    node: Node
    place: Place
    type: Any


def read(node: Node, type_: type[S], problems: list[Problem]) -> S | None:
    """Return the value, or None after adding all that is wrong with it to *problems*."""
    try:
        return msgspec.convert(to_plain(node), type_)
    except msgspec.ValidationError:
        problems += _find_problems(_Part((), node, node.place, type_))
        return None


def readable_keys(node: Fields, type_: type[msgspec.Struct]) -> Fields:
    """
    Return the node with those of its keys alone that are known and have a right value.

    What is left is checked further, so that one wrong key does not hide the problems of others.
    """
    fields = struct_fields(type_) or {}
    kept = {
        key: value
        for key, value in node.values.items()
        if key in fields
        and not _find_problems(_Part((key,), value, node.where(key), fields[key].type))
    }
    return Fields(node.place, kept, node.keys)


def _find_problems(part: _Part) -> list[Problem]:
    """Return the problems of the parts of a node; if they have none, the one of the whole."""
    found = [*_find_key_problems(part)]
    for each in _divide(part):
        found += _find_problems(each)
    return found or [*_find_value_problem(part)]


def _find_key_problems(part: _Part) -> Iterator[Problem]:
    """Yield the unknown keys of a struct, and those that are missing."""
    node, fields = part.node, struct_fields(part.type)
    if fields is None or not isinstance(node, Fields):
        return
    for key in node.values.keys() - fields.keys():
        text = f"unknown key `{_name((*part.path, key))}`: {suggest_name(key, fields)}"
        yield Problem(node.where(key), text)
    for key, field in fields.items():
        if field.required and key not in node.values:
            text = f"`{_name((*part.path, key))}` is missing: {field_meaning(inspect.type_info(field.type))}"
            yield Problem(node.place, text)


def _divide(part: _Part) -> Iterable[_Part]:
    """Yield the parts of a mapping or list whose types are known."""
    path, node = part.path, part.node
    if isinstance(node, Items):
        type_ = item_type(part.type, list, tuple)
        if type_ is not None:
            for i, item in enumerate(node.items):
                yield _Part((*path, i), item, item.place, type_)
    elif isinstance(node, Fields):
        type_, fields = item_type(part.type, dict), struct_fields(part.type) or {}
        for key, value in node.values.items():
            if key in fields or type_ is not None:
                wanted = fields[key].type if key in fields else type_
                yield _Part((*path, key), value, node.where(key), wanted)


def _find_value_problem(part: _Part) -> Iterator[Problem]:
    try:
        msgspec.convert(to_plain(part.node), without_unset(part.type))
    except msgspec.ValidationError:
        shown = f"`{_name(part.path)}` is" if part.path else "this is"
        text = f"{shown} {_shown(part.node)}; it must be {describe_type(inspect.type_info(part.type))}"
        yield Problem(part.place, text)


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return "empty" if node.value is None else f"`{node.value}`"
    return "a mapping" if isinstance(node, Fields) else "a list"


def _name(path: NodePath) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
