"""
Nodes to typed values. Every problem is told, not only the first, and each with its line.
"""

from contextlib import suppress
from enum import Enum, unique
from typing import Any, Final, TypeVar, get_args

import msgspec

from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.expected_types import LISTS, MAPPINGS, Expected, expected
from reporter.catalogue.yaml.nodes import Fields, Items, Node


S = TypeVar("S", bound=msgspec.Struct)


@unique
class Broken(Enum):
    """
    Stands for a value whose problem was told.
    """

    BROKEN = "broken"


BROKEN: Final = Broken.BROKEN


def read(node: Node, type_: type[S], problems: list[Problem]) -> S | None:
    """
    None if it has problems, which are then among *problems*.
    """
    value = _Reader(problems).value(node, type_, name="")
    return value if isinstance(value, type_) else None


class _Reader:
    def __init__(self, problems: list[Problem]):
        self._problems = problems

    def value(self, node: Node, annotation: Any, *, name: str, place: Place | None = None) -> Any:
        """
        *place* is that of the key, where the value of a mapping is read.
        """
        wanted = expected(annotation)
        match node:
            case Fields() if wanted.bare is Fields:
                return node
            case Fields() if wanted.struct is not None:
                return self._struct(node, wanted.struct, name=name)
            case Fields() if wanted.origin in MAPPINGS:
                return self._mapping(node, wanted, name=name)
            case Items() if wanted.origin in LISTS:
                return self._items(node, wanted, name=name)
        return self._leaf(node, wanted, name=name, place=place or node.place)

    def _struct(self, node: Fields, type_: type[msgspec.Struct], *, name: str) -> Any:
        fields = {field.encode_name: field for field in msgspec.structs.fields(type_)}
        unknown = node.values.keys() - fields.keys()
        for key in unknown:
            text = f"unknown key `{_path(name, key)}`: {suggest_name(key, fields)}"
            self._problems.append(Problem(node.where(key), text))
        values = {
            field.name: self._field(node, field, name=name)
            for field in fields.values()
            if field.required or field.encode_name in node.values
        }
        return BROKEN if unknown or BROKEN in values.values() else type_(**values)

    def _field(self, node: Fields, field: msgspec.structs.FieldInfo, *, name: str) -> Any:
        key = field.encode_name
        path = _path(name, key)
        if key in node.values:
            return self.value(node.values[key], field.type, name=path, place=node.where(key))
        text = f"`{path}` is missing{expected(field.type).about}"
        self._problems.append(Problem(node.place, text))
        return BROKEN

    def _items(self, node: Items, wanted: Expected, *, name: str) -> Any:
        item = next(iter(get_args(wanted.bare)), Any)
        values = [
            self.value(each, item, name=f"{name}[{index}]")
            for index, each in enumerate(node.items)
        ]
        if BROKEN in values:
            return BROKEN
        return wanted.origin(values)

    def _mapping(self, node: Fields, wanted: Expected, *, name: str) -> Any:
        _, item = get_args(wanted.bare) or (str, Any)
        values = {
            key: self.value(each, item, name=_path(name, key), place=node.where(key))
            for key, each in node.values.items()
        }
        return BROKEN if BROKEN in values.values() else values

    def _leaf(self, node: Node, wanted: Expected, *, name: str, place: Place) -> Any:
        if wanted.struct is None and wanted.bare is not Fields:
            with suppress(msgspec.ValidationError):
                return msgspec.convert(node.plain, wanted.annotated)
        what = f"`{name}` is {_shown(node)}" if name else f"here is {_shown(node)}"
        self._problems.append(Problem(place, f"{what}; it must be {wanted.saying}"))
        return BROKEN


def _shown(node: Node) -> str:
    if isinstance(node, Fields):
        return "a mapping"
    if isinstance(node, Items):
        return "a list"
    return "empty" if node.value is None else f"`{node.value}`"


def _path(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
