"""
The bounds of what one evaluation may cost.

An evaluation cannot be interrupted, so its cost is bounded beforehand: by the size of the expression,
the size of what it reads, and how often it may multiply that. Within these bounds the library stops
loops after 10,000 rounds (cel-cpp, RuntimeOptions.comprehension_max_iterations).
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from reporter.cel import syntax
from reporter.kinds.objects import ApiObject, Metadata


MAX_TEXT_BYTES = 4096
MAX_NODES = 300
MAX_GROWTH = 400
"""The size of texts and lists that an expression may build up, as a multiple of what it reads."""

REPEATED = 100
"""The factor for what a loop reads in each round."""

MAX_CONTENT_BYTES = 16 * 1024
MAX_CONTENT_VALUES = 1000
"""
Bytes of the fields of one object that its expressions name, and values in them. The library copies
a list for each item that a macro adds to it, so the time grows with the square of their number.
"""

MAX_CONTENT_LEVELS = 64
"""
Levels of nesting in these fields; an API server accepts more than Python can compare or encode.
"""

MAX_LOOKUPS = 1000
"""
Objects that the expressions about one object look up; each takes longer than a round of a loop.
"""

PATTERN_NODES = 50
"""The parts that a regular expression counts as."""

MEASURES = frozenset(
    {
        "size", "contains", "startsWith", "endsWith", "matches", "has", "indexOf", "lastIndexOf",
        "@in", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_",
        "int", "uint", "double", "bool", "timestamp", "duration", "type",
    }
)  # fmt: skip
"""Functions whose result is small, whatever they read."""

OBJECT = "object"
MULTIPLIERS = frozenset({"join", "replace"})


def why_too_costly(tree: syntax.Tree) -> str:
    """Return why an expression may cost too much; empty if it may not."""
    nodes = sum(map(_nodes, syntax.walk(tree)))
    if nodes > MAX_NODES:
        return f"has {nodes} parts, of at most {MAX_NODES}; divide it into several reasons"
    if _growth(tree, {}) > MAX_GROWTH:
        return (
            f"may build texts or lists of more than {MAX_GROWTH} times what it reads; add fewer of"
            " them together"
        )
    return ""


def _nodes(tree: syntax.Tree) -> int:
    return PATTERN_NODES if isinstance(tree, syntax.Call) and tree.function == "matches" else 1


def _growth(tree: syntax.Tree, scope: Mapping[str, int]) -> int:
    """Return how many times the size of what is read the result may have."""
    match tree:
        case syntax.Constant():
            return 1
        case syntax.Name(name=name):
            return scope.get(name, 1)
        case syntax.Select(operand=operand):
            return max(_growth(operand, scope), 1)
        case syntax.Construct(parts=parts):
            return sum(_growth(each, scope) for each in parts)
        case syntax.Loop():
            return _loop_growth(tree, scope)
        case syntax.Call():
            return _call_growth(tree, scope)


def _call_growth(tree: syntax.Call, scope: Mapping[str, int]) -> int:
    parts = [_growth(each, scope) for each in tree.operands]
    largest = max(parts, default=1)
    if largest > MAX_GROWTH:
        return largest
    match tree.function:
        case "lookup":
            return scope.get(OBJECT, 1)
        case "_?_:_" | "orValue" | "or":
            return largest
        case "_[_]" | "_[?_]" | "_?._":
            return parts[0]
        case name if name in MULTIPLIERS:
            # A text between or instead of parts may come once for each character.
            return parts[0] * (1 + sum(_longest(each, scope) for each in tree.operands[1:]))
        case name if name in MEASURES:
            return 1
        case _:
            return sum(parts)


def _longest(tree: syntax.Tree, scope: Mapping[str, int]) -> int:
    """Return the length of a constant, or more than is allowed for what is only known later."""
    if isinstance(tree, syntax.Constant):
        return len(tree.text or "")
    return MAX_GROWTH + 1


def _loop_growth(loop: syntax.Loop, scope: Mapping[str, int]) -> int:
    over = _growth(loop.over, scope)
    # Loops within each other have no more rounds together than one alone may have.
    repeated = {n: g if g >= REPEATED else REPEATED * g for n, g in scope.items()}
    inner = {OBJECT: REPEATED, **repeated, loop.position: 1, loop.variable: over}
    step = _growth(loop.step, {**inner, loop.result_variable: _growth(loop.initial, scope)})
    return _growth(loop.result, {**scope, loop.result_variable: step})


# --------------------------------------------------------------------
# The bounds of what is kept and read of an object.
#
# A user who may write one object must neither fill the memory nor delay the reasons of others.


SUBJECT = "the fields that its expressions name"
TOO_DEEP = f"{SUBJECT} are nested deeper than {MAX_CONTENT_LEVELS} levels"


class TooMuchContent(Exception):
    """
    The error of an object whose fields are not read, as there are too many; its text says why.
    """


def encode_content(each: ApiObject) -> bytes:
    """Return the fields of an object as JSON. Raises TooMuchContent."""
    if left_out := getattr(each, "left_out", ""):
        raise TooMuchContent(left_out)
    try:
        encoded = msgspec.json.encode(each)
    except RecursionError:
        raise TooMuchContent(TOO_DEEP) from None
    if len(encoded) > MAX_CONTENT_BYTES:
        size = f"{len(encoded)} bytes, of which at most {MAX_CONTENT_BYTES} are read"
        raise TooMuchContent(f"{SUBJECT} have {size}")
    # Counted without decoding, which a hostile object could make slow; commas in texts count too.
    if encoded.count(b",") > MAX_CONTENT_VALUES:
        raise TooMuchContent(f"{SUBJECT} have more than {MAX_CONTENT_VALUES} values")
    if encoded.count(b"[") + encoded.count(b"{") > MAX_CONTENT_LEVELS and _is_deep(encoded):
        raise TooMuchContent(TOO_DEEP)
    return encoded


def _is_deep(encoded: bytes) -> bool:
    try:
        level: list[Any] = [msgspec.json.decode(encoded)]
    except RecursionError:
        return True
    for _ in range(MAX_CONTENT_LEVELS):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for each in inner for value in each if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def bounding(kept: type[ApiObject]) -> Callable[[ApiObject], ApiObject]:
    """
    Return the function that leaves out the content of an object of which there is too much.

    *kept*: the type of the objects. What remains has the name, labels, owners and times.
    """
    metadata = next(each.type for each in msgspec.structs.fields(kept) if each.name == "metadata")
    shell: Any = msgspec.defstruct(
        f"{kept.__name__}WithoutContent",
        [("left_out", str, "")],
        bases=(kept,),
        kw_only=True,
    )
    named = [each.name for each in msgspec.structs.fields(Metadata)]

    def bounded(each: ApiObject) -> ApiObject:
        try:
            encode_content(each)
        except TooMuchContent as err:
            meta = metadata(**{name: getattr(each.metadata, name) for name in named})
            found: ApiObject = shell(metadata=meta, left_out=str(err))
            return found
        return each

    return bounded
