"""The problems of an expression that the library refuses."""

import pytest

from reporter.cel.library import CompileError, compile_expression


def problems(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(CompileError) as refused:
        compile_expression(text)
    return [
        (each.text.partition(" (in")[0], each.line, each.column) for each in refused.value.problems
    ]


def test_every_error_of_an_expression_is_named_with_its_place():
    assert problems("foo == 1 &&\n  bar == 2") == [
        ("undeclared reference to 'foo'", 1, 1),
        ("undeclared reference to 'bar'", 2, 3),
    ]


def test_what_looks_like_an_error_in_the_expression_is_none():
    assert problems("'ERROR: <input>:1:2: x' == foo ||\n'ERROR: <input>:3:4: y' == bar") == [
        ("undeclared reference to 'foo'", 1, 28),
        ("undeclared reference to 'bar'", 2, 28),
    ]
