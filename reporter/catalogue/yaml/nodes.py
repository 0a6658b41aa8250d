"""
Read a YAML file into nodes that know their lines.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import yaml

from reporter.catalogue.problems import Place, Problem


LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""
The parser of libyaml, where PyYAML was built with it: it is ten times as fast.
"""

NESTED = "is nested too deep for a catalogue"
MAX_SHOWN_CHARACTERS = 60
"""
Number of characters of a value that an error shows at most.
"""

MAX_NUMBER_BITS = 64


@dataclass(frozen=True, slots=True)
class Scalar:
    place: Place
    value: object


@dataclass(frozen=True, slots=True)
class Items:
    place: Place
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """
    A mapping. *keys*: the place of each key, which errors about its value name.
    """

    place: Place
    values: Mapping[str, "Node"] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    def where(self, key: str) -> Place:
        return self.keys.get(key, self.place)

    def merged(self, over: "Fields") -> "Fields":
        """
        Return a mapping in which the keys of *over* replace ours, with their own lines.
        """
        return Fields(self.place, {**self.values, **over.values}, {**self.keys, **over.keys})


Node: TypeAlias = Scalar | Items | Fields


def compose(path: Path, problems: list[Problem]) -> Node | None:
    """
    Return the root node, or None after adding to *problems* why the file cannot be read.
    """
    top = Place(str(path), 1)
    try:
        root = yaml.compose(path.read_text("utf-8"), Loader=LOADER)
    except (OSError, UnicodeDecodeError) as err:
        why = err.strerror if isinstance(err, OSError) else "it is not UTF-8"
        problems.append(Problem(top, f"cannot be read: {why}"))
        return None
    except yaml.YAMLError as err:
        problems.append(_syntax_problem(err, str(path)))
        return None
    except RecursionError:
        problems.append(Problem(top, NESTED))
        return None
    return Fields(top) if root is None else _composed(root, path, problems)


def _composed(root: yaml.Node, path: Path, problems: list[Problem]) -> Node | None:
    try:
        return _Composer(str(path), problems).node(root)
    except RecursionError:
        problems.append(Problem(Place(str(path), 1), NESTED))
        return None


def _syntax_problem(err: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(err, "problem_mark", None)
    why = getattr(err, "problem", None) or str(err).splitlines()[0]
    return Problem(Place(file, mark.line + 1 if mark else 1), f"is not YAML: {why}")


class _Composer:
    """
    Convert PyYAML's nodes to ours; report duplicate keys and aliases that contain themselves.
    """

    def __init__(self, file: str, problems: list[Problem]):
        self._file = file
        self._problems = problems
        self._constructor = yaml.constructor.SafeConstructor()
        self._above: list[yaml.Node] = []

    def node(self, raw: yaml.Node) -> Node:
        if any(raw is above for above in self._above):
            return self._broken(raw, "this alias contains itself; write its value out")
        self._above.append(raw)
        try:
            return self._node(raw)
        finally:
            self._above.pop()

    def _node(self, raw: yaml.Node) -> Node:
        if isinstance(raw, yaml.SequenceNode):
            return Items(self._place(raw), tuple(self.node(item) for item in raw.value))
        if isinstance(raw, yaml.MappingNode):
            return self._fields(raw)
        shown = f"`{raw.value[:MAX_SHOWN_CHARACTERS]}`"
        try:
            value = self._constructor.construct_object(raw)
        except (yaml.YAMLError, ValueError):
            return self._broken(raw, f"{shown} is no {raw.tag}; quote it if it is text")
        if isinstance(value, int) and value.bit_length() > MAX_NUMBER_BITS:
            return self._broken(raw, f"{shown} is too large a number; quote it if it is text")
        return Scalar(self._place(raw), value)

    def _fields(self, raw: yaml.MappingNode) -> Fields:
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        for key_node, value in raw.value:
            key, place = str(key_node.value), self._place(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                self._problems.append(Problem(place, "a key must be a plain word"))
                continue
            if key in keys:
                text = f"duplicate key `{key}`, first in line {keys[key].line}; remove one"
                self._problems.append(Problem(place, text))
                continue
            values[key], keys[key] = self.node(value), place
        return Fields(self._place(raw), values, keys)

    def _broken(self, raw: yaml.Node, text: str) -> Scalar:
        self._problems.append(Problem(self._place(raw), text))
        return Scalar(self._place(raw), None)

    def _place(self, raw: yaml.Node) -> Place:
        return Place(self._file, raw.start_mark.line + 1)
