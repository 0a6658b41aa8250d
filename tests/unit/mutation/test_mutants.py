"""Changes of a module that are tried."""

import ast

import pytest

from tests.mutation.__main__ import CAPABILITIES, _files, _mutants_of
from tests.mutation.mutants import find_mutants


def changes_of(source: str) -> set[str]:
    return {each.after for each in find_mutants("m.py", source.encode())}


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("x = a < b", {"(a <= b)"}),
        ("x = a is None", {"(a is not None)"}),
        ("x = a and b", {"(a or b)"}),
        ("x = not a", {"(a)"}),
        ("x = a + b", {"(a - b)"}),
        ("x = a if b else c", {"(c if b else a)"}),
        ("x = min(a, b)", {"(max(a, b))"}),
        ("x = True", {"(False)"}),
        ("x = 30", {"(31)"}),
        ("do(a)", {"pass"}),
        ("a += b", {"pass"}),
    ],
)
def test_each_operator_changes_its_expression(source, after):
    assert changes_of(source) == after


@pytest.mark.parametrize(
    "source",
    ['"""Text 1 < 2."""', "x: Literal[1]", "raise E(f'{a + 1}')", "@cache(1)\ndef f(): ..."],
    ids=["docstring", "annotation", "words of an error", "decorator"],
)
def test_what_changes_no_decision_is_left_alone(source):
    assert changes_of(source) == set()


def test_the_place_of_a_change_is_counted_in_bytes():
    source = "é = 'é'; x = a == b\n".encode()
    (mutant,) = find_mutants("m.py", source)
    assert mutant.apply(source).decode() == "é = 'é'; x = (a != b)\n"


def test_every_capability_has_mutants_and_each_is_a_program():
    for places in CAPABILITIES.values():
        file = _files(places[0])[-1]
        mutants = _mutants_of(file)
        source = file.read_bytes()
        for each in mutants[:20]:
            assert ast.dump(ast.parse(each.apply(source))) != ast.dump(ast.parse(source))
