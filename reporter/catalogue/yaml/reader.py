"""
Convert YAML nodes to typed values, and report every problem with its line.

msgspec stops at the first problem and names its path, such as ``$.suppresses[0].why``. The reader
finds the YAML node of that path, removes it and converts again, until no problem is left.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, Items, Node, Scalar
from reporter.catalogue.yaml.type_descriptions import (
    child_type,
    describe_type,
    field_meaning,
    strip_metadata,
)


S = TypeVar("S", bound=msgspec.Struct)
NodePath: TypeAlias = tuple[str | int, ...]
"""
The keys and list indexes that lead from the root to a node.
"""

PATH_STEP = re.compile(r"\.([^.\[`]+)|\[([0-9]+|\.\.\.)\]")
"""
One step of msgspec's path: a key of a struct, a list index, or ``...`` for any key of a dict.
"""


class _Location(NamedTuple):
    path: NodePath
    node: Node
    place: Place
    type: inspect.Type


def read(node: Node, type_: type[S], problems: list[Problem]) -> S | None:
    """
    Return the value, or None after adding all that is wrong with it to *problems*.
    """
    reader = _Reader(node, type_)
    value = reader.read()
    problems += reader.problems
    return None if reader.problems else value


@dataclass(slots=True)
class _Reader:
    root: Node
    type: Any
    removed: frozenset[NodePath] = frozenset()
    problems: list[Problem] = field(default_factory=list)

    def read(self) -> Any:
        while () not in self.removed:
            try:
                return self._convert(self.removed)
            except msgspec.ValidationError as err:
                self._report(str(err))
        return None

    def _convert(self, removed: frozenset[NodePath]) -> Any:
        return msgspec.convert(_plain(self.root, removed), self.type)

    def _report(self, error: str) -> None:
        try:
            found = self._locate(error)
        except (LookupError, ValueError):
            # An unknown key may itself look like the end of msgspec's error, the path.
            self.problems.append(Problem(self.root.place, error))
            self.removed |= {()}
            return
        wanted = strip_metadata(found.type)
        if isinstance(found.node, Fields) and isinstance(wanted, inspect.StructType):
            self._report_keys(found, found.node, wanted)
            return
        shown = f"`{_name(found.path)}` is" if found.path else "this is"
        text = f"{shown} {_shown(found.node)}; it must be {describe_type(found.type)}"
        self.problems.append(Problem(found.place, text))
        self.removed |= {found.path}

    def _report_keys(self, found: _Location, node: Fields, wanted: inspect.StructType) -> None:
        """
        Report unknown keys and remove them; if there are none, report the missing ones.
        """
        known = {each.encode_name: each for each in wanted.fields}
        path = found.path
        unknown = {(*path, key) for key in node.values.keys() - known.keys()} - self.removed
        for *_, key in unknown:
            text = f"unknown key `{_name((*path, key))}`: {suggest_name(str(key), known)}"
            self.problems.append(Problem(node.where(str(key)), text))
        missing = [each for each in wanted.fields if each.required] if not unknown else []
        for each in missing:
            if each.encode_name not in node.values:
                text = f"`{_name((*path, each.encode_name))}` is missing: {field_meaning(each)}"
                self.problems.append(Problem(node.place, text))
        self.removed |= unknown or {path}

    def _locate(self, error: str) -> _Location:
        """
        Find the node that an error is about. Raise LookupError or ValueError if there is none.
        """
        path: NodePath = ()
        node, place, type_ = self.root, self.root.place, inspect.type_info(self.type)
        for key, index in PATH_STEP.findall(error.partition(" - at `$")[2]):
            if isinstance(node, Items):
                left = [i for i in range(len(node.items)) if (*path, i) not in self.removed]
                step = left[int(index)]
                path, node = (*path, step), node.items[step]
                place = node.place
            elif isinstance(node, Fields):
                key_ = key or self._failing_key(path, node, error)
                path, place, node = (*path, key_), node.where(key_), node.values[key_]
            type_ = child_type(type_, key)
        if path in self.removed:
            raise LookupError(error)
        return _Location(path, node, place, type_)

    def _failing_key(self, path: NodePath, node: Fields, error: str) -> str:
        """
        Find the key of a dict whose value fails: with this key alone the error is the same.
        """
        for key in node.values:
            others = {(*path, other) for other in node.values if other != key}
            try:
                self._convert(self.removed | others)
            except msgspec.ValidationError as err:
                if str(err) == error:
                    return key
        raise LookupError(error)


def _plain(node: Node, removed: frozenset[NodePath], path: NodePath = ()) -> Any:
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        steps = [(i, item) for i, item in enumerate(node.items) if (*path, i) not in removed]
        return [_plain(item, removed, (*path, i)) for i, item in steps]
    return {
        key: _plain(value, removed, (*path, key))
        for key, value in node.values.items()
        if (*path, key) not in removed
    }


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return "empty" if node.value is None else f"`{node.value}`"
    return "a mapping" if isinstance(node, Fields) else "a list"


def _name(path: NodePath) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
