"""
Find the places of a module where one expression can be changed, and change one of them.

The operators are those of mutmut and cosmic-ray that change behaviour and not only text. Their runners
do not fit: mutmut rewrites every function of a package, cosmic-ray has no samples and no two workers
without a server.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
TEXT_ONLY = (ast.Raise, ast.Assert, ast.JoinedStr)
"""Nodes whose content only words an error or a message."""


@dataclass(frozen=True)
class Mutant:
    """
    One changed expression. *before* and *after* are source text; the bytes *start* to *end* change.
    """

    file: str
    line: int
    before: str
    after: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """Return what identifies the mutant also after lines have moved."""
        return f"{self.file}: {self.before} -> {self.after}"

    def distance(self, other: "Mutant") -> int:
        """Return the number of lines between two."""
        return abs(self.line - other.line)

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a module, in the order of the source."""
    starts = [0]
    for each in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    found = []
    for node, changed in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        after = ast.unparse(changed)
        if isinstance(changed, ast.expr):
            after = f"({after})"
        found.append(Mutant(file, node.lineno, source[start:end].decode(), after, start, end))
    return sorted(found, key=lambda each: (each.start, each.end, each.after))


def _changes(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    """Yield each node that can be changed, with the node in its place."""
    for child in _children(node):
        if not isinstance(child, TEXT_ONLY):
            yield from ((child, changed) for changed in _changed(child))
            yield from _changes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one that run; annotations, decorators and docstrings do not count."""
    skipped = {"annotation", "returns", "decorator_list", "bases", "keywords", "type_params"}
    if isinstance(node, ast.Call):
        skipped -= {"keywords"}
    for name, value in ast.iter_fields(node):
        if name not in skipped:
            values = value if isinstance(value, list) else [value]
            yield from (each for each in values if isinstance(each, ast.AST))


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield _with(node, ops=[COMPARISONS[type(operator)]()])
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp(op=operator) if type(operator) in OPERATIONS:
            yield _with(node, op=OPERATIONS[type(operator)]())
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield _with(node, func=ast.Name(CALLS[name]))
        case ast.Constant(value=bool() | int() | float() as value):
            yield ast.Constant(not value if isinstance(value, bool) else value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield ast.Pass()
        case _:
            return


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new
