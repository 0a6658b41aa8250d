"""Tests that a changed expression is put to."""

import pytest

from tests.mutation.mutants import find_mutants
from tests.mutation.selection import cut, spans_of


def spans(source: str, before: str) -> list[list[int]]:
    (mutant,) = (e for e in find_mutants("m.py", source.encode()) if e.before == before)
    return [[*each] for each in spans_of(mutant, source.encode())]


@pytest.mark.parametrize(
    ("source", "before", "expected"),
    [
        ("if (\n  a\n  or b < c\n):\n  d()\n", "b < c", [[3], [1, 2, 3, 4]]),
        ("x = (\n  0,\n  7,\n)\n", "7", [[3], [1, 2, 3, 4]]),
        ("def f():\n  return (\n    a\n    - b\n  )\n", "a\n    - b", [[3, 4], [2, 3, 4, 5]]),
    ],
    ids=["a condition without its body", "a folded constant", "two lines"],
)
def test_lines_of_an_expression_come_before_those_of_its_statement(source, before, expected):
    assert spans(source, before) == expected


def test_own_tests_are_asked_first_and_of_these_the_cheapest():
    seconds = {"a.py::slow": 3.0, "a.py::fast": 1.0, "b.py::fastest": 0.5}
    assert cut(seconds, seconds, own={"a.py"}) == [["a.py::fast", "a.py::slow", "b.py::fastest"]]


def test_a_run_ends_where_the_next_test_would_make_it_long_and_the_rest_is_left_out():
    seconds = {"a::1": 2.0, "a::2": 3.0, "a::3": 40.0, "a::4": 50.0, "a::5": 600.0}
    assert cut(seconds, seconds, own=()) == [["a::1", "a::2"], ["a::3"]]


def test_a_test_that_is_longer_than_a_run_has_one():
    assert cut({"a::1"}, {"a::1": 700.0}, own=()) == [["a::1"]]
