"""
The one module that knows the CEL library, cel-expr-python, which wraps cel-cpp.

It is an extra, so it is imported when the first expression is compiled.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from reporter.cel.syntax import Tree, parse_checked


MISSING_LIBRARY = (
    "the package cel-expr-python is not installed; install productionstack-status-reporter[cel]"
)

_ERROR = re.compile(
    r"^(?:[A-Z_]+: )?ERROR: <input>:(?P<line>\d+):(?P<column>\d+):(?P<why>.*)$", re.MULTILINE
)

Lookup: TypeAlias = Callable[[str, str, str], Any]
"""Returns the content of an object by kind, namespace and name; None if there is none."""


class MissingLibraryError(Exception):
    """
    The error of a catalogue with expressions in CEL where the Python package for them is not installed.
    """


class CompileProblem(NamedTuple):
    """A problem of an expression. *line* and *column* count from 1; 0 if unknown."""

    text: str
    line: int = 0
    column: int = 0


class CompileError(Exception):
    """The error of an expression that cannot be used; *problems* are all of its problems."""

    def __init__(self, problems: Sequence[CompileProblem]) -> None:
        super().__init__("; ".join(each.text for each in problems))
        self.problems = problems


class EvaluationError(Exception):
    """
    The error of an expression that has no value for an object, such as for a field that is not there.
    """


class Compiled(NamedTuple):
    """An expression. *type*: that of its value, in words of CEL; DYN if it is only known then."""

    expression: Any
    type: str
    tree: Tree


class Bindings:
    """The values of the variables for the expressions about one object."""

    def __init__(
        self, content: Any, now: datetime, parameters: Mapping[str, Any], lookup: Lookup | None
    ) -> None:
        cel, env = environment()
        text, dyn = cel.Type.STRING, cel.Type.DYN
        functions = (
            [cel.Function("lookup", [text, text, text], False, lookup, dyn)] if lookup else []
        )
        values = {"object": content, "now": now, "parameters": parameters}
        self.activation = env.Activation(values, functions=functions)


def compile_expression(text: str) -> Compiled:
    """Parse and check an expression. Raise CompileError or MissingLibraryError."""
    _, env = environment()
    try:
        expression = env.compile(text)
        tree = parse_checked(expression.serialize())
    except (RuntimeError, ValueError) as err:
        raise _compile_error(str(err)) from err
    return Compiled(expression, str(expression.return_type().name()), tree)


def evaluate(compiled: Compiled, bindings: Bindings) -> Any:
    """Return the value of an expression. Raise EvaluationError if it has none."""
    cel, _ = environment()
    # The library raises for what exceeds its limits and for values that Python has no type for.
    try:
        result = compiled.expression.eval(bindings.activation)
        if result.type() == cel.Type.ERROR:
            raise EvaluationError(_plain(str(result.value())))
        return result.value()
    except (RuntimeError, TypeError, ValueError, SystemError) as err:
        raise EvaluationError(_plain(str(err))) from err


@cache
def environment() -> Any:
    """
    Return the library and the environment in which all expressions are compiled.

    Raise MissingLibraryError where the package is not installed.
    """
    try:
        from cel_expr_python import cel  # noqa: PLC0415  an extra
        from cel_expr_python.ext import ext_optional, ext_strings  # noqa: PLC0415
    except ImportError as err:
        raise MissingLibraryError(MISSING_LIBRARY) from err
    text, dyn = cel.Type.STRING, cel.Type.DYN
    declared = cel.FunctionDecl("lookup", [cel.Overload("lookup", dyn, [text, text, text], False)])
    variables = {"object": dyn, "now": cel.Type.TIMESTAMP, "parameters": dyn}
    extensions = [
        ext_strings.ExtStrings(),
        ext_optional.ExtOptional(),
        cel.CelExtension("productionstack-status-reporter", [declared]),
    ]
    return cel, cel.NewEnv(variables=variables, extensions=extensions)


def _compile_error(text: str) -> CompileError:
    """
    Read what the library says: ``INVALID_ARGUMENT: ERROR: <input>:1:17: Syntax error: …``.

    Further errors follow on lines of their own, each after the line of the expression.
    """
    found = [
        CompileProblem(each["why"].strip(), int(each["line"]), int(each["column"]))
        for each in _ERROR.finditer(text)
    ]
    return CompileError(found or [CompileProblem(_plain(text))])


def _plain(text: str) -> str:
    """Return an error without the code around it: ``NOT_FOUND: Key not found … [NOT_FOUND]``."""
    text = text.partition("\n")[0]
    code, colon, rest = text.partition(": ")
    if colon and code.isupper():
        return rest.removesuffix(f"[{code}]").strip()
    return text.strip()
