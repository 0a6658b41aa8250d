"""Choose the tests that execute a changed expression, out of what was recorded once."""

import ast
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from tests.mutation.mutants import Mutant


RUNS = (5.0, 60.0)
"""
Recorded seconds of the runs of a mutant, each of which starts a process. The tests beyond them notice
seldom and take minutes: what is left is put to them together with the other mutants.
"""


class Recording:
    """Lines and seconds of each test that passed. *folder*: where the plugin wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for each in self._folder.glob("seconds-*.json"):
            found |= json.loads(each.read_text())
        return found

    def runs_of(self, mutant: Mutant, source: bytes, own: Collection[str]) -> list[list[str]]:
        """
        Return the runs that a mutant is put to, each a list of tests.

        *own*: the test files that import its module. What runs only while modules are imported is no
        line of a test: all own tests are asked.
        """
        lines = self._tests_by_line(mutant.file)
        tests = next(
            (found for span in spans_of(mutant, source) if (found := _tests_of(span, lines))),
            {each for each in self.seconds if file_of(each) in own},
        )
        return cut(tests & self.seconds.keys(), self.seconds, own)

    def _tests_by_line(self, file: str) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for lines in self._lines:
            for line, tests in lines.contexts_by_lineno(file).items():
                found.setdefault(line, set()).update(tests)
        return found

    @cached_property
    def _lines(self) -> list[CoverageData]:
        found = []
        for each in sorted(self._folder.glob("lines-*")):
            found.append(CoverageData(str(each)))
            found[-1].read()
        return found


def cut(
    tests: Collection[str], seconds: Mapping[str, float], own: Collection[str]
) -> list[list[str]]:
    """Return the first tests as runs: those of *own* files first, of these the cheapest."""
    runs: list[list[str]] = [[]]
    spent = 0.0
    for each in sorted(tests, key=lambda test: (file_of(test) not in own, seconds[test], test)):
        if runs[-1] and spent + seconds[each] > RUNS[len(runs) - 1]:
            if len(runs) == len(RUNS):
                break
            runs.append([])
            spent = 0.0
        runs[-1].append(each)
        spent += seconds[each]
    return [each for each in runs if each]


def spans_of(mutant: Mutant, source: bytes) -> Iterator[range]:
    """
    Yield the lines of the expression, and those of its statement without the body.

    A constant that the compiler folds has no line of its own.
    """
    end = mutant.line + mutant.before.count("\n")
    yield range(mutant.line, end + 1)
    statements = [
        each
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.stmt) and each.lineno <= mutant.line and end <= each.end_lineno
    ]
    inner = max(statements, key=lambda each: (each.lineno, -each.end_lineno))
    body = getattr(inner, "body", None)
    yield range(inner.lineno, body[0].lineno if body else inner.end_lineno + 1)


def file_of(test: str) -> str:
    return test.partition("::")[0]


def _tests_of(lines: Sequence[int], tests_by_line: Mapping[int, set[str]]) -> set[str]:
    return {test for line in lines for test in tests_by_line.get(line, ())} - {""}
