"""
The fields that an expression reads: all others of an object need not be kept.

A value is followed from the object through selections, loops and lists until something looks at it.
What is not understood counts as a look at all of the value.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from reporter.cel import syntax


EACH = ""
"""
Stands in a path for every item of a list, or every value of a map. No field has an empty name.
"""

OBJECT = "object"
LOOKUP = "lookup"
Path: TypeAlias = tuple[str, ...]
"""A kind, or OBJECT for the kind of the reason, and the fields that lead to a value."""


class Read(NamedTuple):
    """A value that is read. *is_whole* is False where only its presence matters."""

    path: Path
    is_whole: bool


class Reads(NamedTuple):
    """
    The fields that an expression reads. *names*: the variables; *kinds*: those that it looks up.
    """

    fields: frozenset[Read]
    names: frozenset[str]
    kinds: frozenset[str]


class NotConstantError(Exception):
    """The error of a lookup whose kind is no constant, so that nobody knows what to watch."""


class _Value(NamedTuple):
    """
    The paths to which a value may belong, and those of the items of a list that was made of them.
    """

    paths: frozenset[Path] = frozenset()
    items: frozenset[Path] = frozenset()

    def join(self, other: "_Value") -> "_Value":
        return _Value(self.paths | other.paths, self.items | other.items)


NOTHING = _Value()
VariableScope: TypeAlias = Mapping[str, _Value]

_INDEXING = frozenset({"_[_]", "_[?_]", "_?._"})
"""Operators whose result is a field or an item of their first operand; `_?._` is ``a.?field``."""

_PASSING = frozenset({"_+_", "orValue", "or", "value", "optional.of", "dyn"})
"""Functions whose result is made of their operands, so that these are followed further."""

_PRESENCE = frozenset({"size", "hasValue"})
"""Functions that read no value, only whether there is one, or how many."""

_COMPARING = frozenset({"_==_", "_!=_"})
"""Operators that read no value either where one operand is null: only whether there is one."""


def find_reads(tree: syntax.Tree) -> Reads:
    """
    Return the fields, variables and looked up kinds that an expression reads.

    Raise NotConstantError for a lookup whose kind is no literal, so that it is only known at evaluation.
    """
    finder = _Finder()
    finder.look_at(finder.follow(tree, {}))
    return Reads(frozenset(finder.fields), frozenset(finder.names), frozenset(finder.kinds))


class _Finder:
    def __init__(self) -> None:
        self.fields: set[Read] = set()
        self.names: set[str] = set()
        self.kinds: set[str] = set()

    def look_at(self, *values: _Value) -> None:
        for value in values:
            self.fields.update(Read(path, is_whole=True) for path in value.paths | value.items)

    def _look_at_presence(self, paths: Iterable[Path]) -> None:
        self.fields.update(Read(path, is_whole=False) for path in paths)

    def follow(self, tree: syntax.Tree, scope: VariableScope) -> _Value:
        match tree:
            case syntax.Constant():
                return NOTHING
            case syntax.Name(name=name):
                return self._name(name, scope)
            case syntax.Select(operand=operand, field=field, is_test=is_test):
                return self._select(self.follow(operand, scope), field, is_test=is_test)
            case syntax.Call():
                return self._call(tree, scope)
            case syntax.Construct():
                return self._collection(tree, scope)
            case syntax.Loop():
                return self._loop(tree, scope)

    def _name(self, name: str, scope: VariableScope) -> _Value:
        if name in scope:
            return scope[name]
        self.names.add(name)
        return _Value(frozenset({(OBJECT,)})) if name == OBJECT else NOTHING

    def _select(self, value: _Value, field: str, *, is_test: bool) -> _Value:
        paths = frozenset((*path, field) for path in value.paths)
        if is_test:
            self._look_at_presence(paths)
            return NOTHING
        return _Value(paths)

    def _call(self, call: syntax.Call, scope: VariableScope) -> _Value:
        if call.function == LOOKUP:
            return self._lookup(call, scope)
        values = [self.follow(each, scope) for each in call.operands]
        if call.function in _INDEXING:
            return self._index(values[0], call.operands[1], values[1])
        if call.function in _PASSING:
            return NOTHING.join(values[0]).join(values[1] if len(values) > 1 else NOTHING)
        if call.function == "_?_:_":
            self.look_at(values[0])
            return values[1].join(values[2])
        if call.function in _PRESENCE:
            self._look_at_presence((*path, EACH) for each in values for path in each.paths)
            # A missing field of an item is an error, not an item less.
            self._look_at_presence(path for each in values for path in each.items)
            return NOTHING
        if call.function in _COMPARING and any(map(_is_null, call.operands)):
            self._look_at_presence(path for each in values for path in each.paths | each.items)
            return NOTHING
        self.look_at(*values)
        return NOTHING

    def _lookup(self, call: syntax.Call, scope: VariableScope) -> _Value:
        kind, *others = call.arguments
        self.look_at(*(self.follow(each, scope) for each in others))
        if not isinstance(kind, syntax.Constant) or kind.text is None:
            raise NotConstantError
        self.kinds.add(kind.text)
        return _Value(frozenset({(kind.text,)}))

    def _index(self, value: _Value, index: syntax.Tree, index_value: _Value) -> _Value:
        if isinstance(index, syntax.Constant) and index.text and _is_field_name(index.text):
            return self._select(value, index.text, is_test=False)
        self.look_at(index_value)
        return _Value(_each(value))

    def _collection(self, collection: syntax.Construct, scope: VariableScope) -> _Value:
        parts = [self.follow(each, scope) for each in collection.parts]
        if not collection.is_list:
            self.look_at(*parts)
            return NOTHING
        items = frozenset(path for each in parts for path in each.paths)
        self.look_at(*(_Value(items=each.items) for each in parts))
        return _Value(items=items)

    def _loop(self, loop: syntax.Loop, scope: VariableScope) -> _Value:
        over = self.follow(loop.over, scope)
        each = _Value(_each(over))
        self._look_at_presence(each.paths)
        inner = {**scope, loop.position: NOTHING, loop.variable: each}
        result = self.follow(loop.initial, scope)
        for _ in range(2):
            inner[loop.result_variable] = result
            result = result.join(self.follow(loop.step, inner))
        if result != inner[loop.result_variable]:
            # The result grows with each round, which no macro does: count all of it as read.
            self.look_at(over, result)
        inner[loop.result_variable] = result
        self.look_at(self.follow(loop.condition, inner))
        return self.follow(loop.result, inner)


def _each(value: _Value) -> frozenset[Path]:
    """Return the paths of the items of a list, or of the values of a map."""
    return value.items | {(*path, EACH) for path in value.paths}


def _is_field_name(text: str) -> bool:
    """
    Return whether the decoder takes a text for a field's name (msgspec refuses what JSON escapes).
    """
    return text.isprintable() and not {'"', "\\"} & {*text}


def _is_null(tree: syntax.Tree) -> bool:
    return isinstance(tree, syntax.Constant) and tree.is_null
