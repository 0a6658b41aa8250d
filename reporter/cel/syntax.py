"""
The syntax tree of a checked expression.

The library hands it out as a serialized ``cel.expr.CheckedExpr`` alone (cel-spec, proto/cel/expr:
checked.proto and syntax.proto, whose field numbers these are). Its Python package has no class for
that, and protobuf would be a further dependency for these few messages.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias


class Constant(NamedTuple):
    """A literal of an expression. *text*: None if it is no text."""

    text: str | None
    is_null: bool = False


class Name(NamedTuple):
    """An identifier of the expression: a variable of the reason, or one that a macro binds."""

    name: str


class Select(NamedTuple):
    """``operand.field``; with *is_test* it is ``has(operand.field)``."""

    operand: "Tree"
    field: str
    is_test: bool


class Call(NamedTuple):
    """A function or operator; *target* is that of a method and comes first."""

    function: str
    target: "Tree | None"
    arguments: "tuple[Tree, ...]"

    @property
    def operands(self) -> "tuple[Tree, ...]":
        """The parts in the order in which they are written, the target of a method first."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


class Construct(NamedTuple):
    """A list or a map that the expression makes, with its keys and values."""

    parts: "tuple[Tree, ...]"
    is_list: bool


class Loop(NamedTuple):
    """
    The meaning of a macro such as ``exists``: a loop over a list or a map.

    *position* and *variable*: index and item, or key and value, if the macro has two variables; else
    *position* is empty, and *variable* is the item or the key. *result_variable* begins as *initial* and
    becomes *step* in each round, while *condition* is true. *result* is the value of the whole.
    """

    variable: str
    position: str
    over: "Tree"
    result_variable: str
    initial: "Tree"
    condition: "Tree"
    step: "Tree"
    result: "Tree"


Tree: TypeAlias = Constant | Name | Select | Call | Construct | Loop
RawFields: TypeAlias = dict[int, list[int | bytes]]

_CONSTANT, _NAME, _SELECT, _CALL, _LIST, _STRUCT, _LOOP = 3, 4, 5, 6, 7, 8, 9
"""The fields of ``cel.expr.Expr``, of which each has one."""

_NULL, _TEXT = 1, 6
"""Fields of ``cel.expr.Constant``."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def parse_checked(serialized: bytes) -> Tree:
    """Return the tree of an expression. Raise ValueError for any other message."""
    wrapped = _read(serialized)
    if not _text(wrapped, 1).endswith("/cel.expr.CheckedExpr"):
        raise ValueError("not a checked expression")
    return _tree(_message(_read(_bytes(wrapped, 2)), 4))


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the direct parts of a tree; none for a literal or a name."""
    match tree:
        case Select(operand=operand):
            return (operand,)
        case Call():
            return tree.operands
        case Construct(parts=parts):
            return parts
        case Loop():
            return (tree.over, tree.initial, tree.condition, tree.step, tree.result)
        case _:
            return ()


def walk(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and every tree inside it."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += children(each)


def _tree(expr: RawFields) -> Tree:
    if _CONSTANT in expr:
        constant = _message(expr, _CONSTANT)
        text = _text(constant, _TEXT) if _TEXT in constant else None
        return Constant(text, is_null=_NULL in constant)
    if _NAME in expr:
        return Name(_text(_message(expr, _NAME), 1).removeprefix("."))
    if _SELECT in expr:
        select = _message(expr, _SELECT)
        return Select(_tree(_message(select, 1)), _text(select, 2), bool(select.get(3)))
    if _CALL in expr:
        call = _message(expr, _CALL)
        target = _tree(_message(call, 1)) if 1 in call else None
        return Call(_text(call, 2), target, tuple(_trees(call, 3)))
    if _LIST in expr:
        return Construct(tuple(_trees(_message(expr, _LIST), 1)), is_list=True)
    if _STRUCT in expr:
        return Construct(tuple(_entries(_message(expr, _STRUCT))), is_list=False)
    if _LOOP in expr:
        return _loop(_message(expr, _LOOP))
    raise ValueError("an expression of an unknown kind")


def _loop(loop: RawFields) -> Loop:
    first, second = _text(loop, 1), _text(loop, 8)
    over, initial, condition, step, result = (
        _tree(_message(loop, number)) for number in (2, 4, 5, 6, 7)
    )
    variable, position = (second, first) if second else (first, "")
    return Loop(variable, position, over, _text(loop, 3), initial, condition, step, result)


def _entries(struct: RawFields) -> Iterator[Tree]:
    for raw in struct.get(2, ()):
        entry = _read(raw)
        for number in (3, 4):
            yield from _trees(entry, number)


def _trees(message: RawFields, number: int) -> Iterator[Tree]:
    for raw in message.get(number, ()):
        yield _tree(_read(raw))


# ---------------------------------------------------------------- the encoding


def _read(raw: int | bytes) -> RawFields:
    """Split a message into its fields by number (protobuf.dev, "Encoding")."""
    if isinstance(raw, int):
        raise ValueError("a number instead of a message")  # noqa: TRY004  one error for bad input
    fields: RawFields = {}
    at = 0
    while at < len(raw):
        tag, at = _read_varint(raw, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _read_varint(raw, at)
            fields.setdefault(number, []).append(value)
            continue
        if wire not in (_FIXED64, _BYTES, _FIXED32):
            raise ValueError("an unknown wire type")
        size, at = (8 if wire == _FIXED64 else 4, at) if wire != _BYTES else _read_varint(raw, at)
        if at + size > len(raw):
            raise ValueError("a field without its end")
        fields.setdefault(number, []).append(raw[at : at + size])
        at += size
    return fields


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(raw):
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004  the bit that says that more follow
            return value, at
    raise ValueError("a number without its end")


def _message(fields: RawFields, number: int) -> RawFields:
    found = fields.get(number)
    if not found:
        raise ValueError(f"field {number} is missing")
    return _read(found[-1])


def _bytes(fields: RawFields, number: int) -> bytes:
    found = fields.get(number, [b""])[-1]
    if isinstance(found, int):
        raise ValueError(f"field {number} is a number")  # noqa: TRY004  one error for bad input
    return found


def _text(fields: RawFields, number: int) -> str:
    return _bytes(fields, number).decode()
