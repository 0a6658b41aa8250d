"""Run the fast tests on copies of the sources, each with one mutant."""

import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.mutation.mutants import Mutant


ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", ".bench", "dist")
CORE = ("tests/cases", "tests/unit", "tests/property")
REST = ("tests/fuzz", "tests/simulation", "tests/conformance", "tests/integration")
NO_MUTANT = ("tests/integration/page", "tests/integration/process")
"""Browser and processes, which show what no change of one expression in these modules changes."""

OWN_LIMIT, LIMIT = 900, 3600
"""
Seconds for the tests that import a module, and for all tests. A mutant that never ends is noticed too.
"""

MANY = 60
"""Failed tests that are enough to ask each mutant by itself."""


@dataclass(frozen=True)
class Outcome:
    """
    *killed_by*: the first test that failed, or why the run ended otherwise; empty if all passed.
    """

    mutant: Mutant
    killed_by: str


class Trial:
    """
    Copies of the sources, one for each worker. *rest*: ask more than the core of the tests.

    First each mutant is put to the tests that import its module. Those that are left are put to all
    tests together: only if one of these fails, each is put to the failed ones by itself. So a hundred
    mutants cost a few runs of all tests, and not one for each survivor.
    """

    def __init__(self, folder: Path, *, workers: int, rest: bool = True) -> None:
        self._tests, self._workers = (*CORE, *(REST if rest else ())), workers
        self._copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(workers):
            copy = folder / f"copy-{number}"
            shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
            self._copies.put(copy)

    def try_all(self, mutants: Mapping[Mutant, str]) -> Iterator[Outcome]:
        """
        Yield the outcome of each mutant. *mutants*: with the test that is asked first, or "".
        """
        left = []
        for outcome in self._each(mutants, partial(_asked_first, mutants), limit=OWN_LIMIT):
            if outcome.killed_by:
                yield outcome
            else:
                left.append(outcome.mutant)
        while left:
            together = _without_overlaps(left)
            failed = self._failed_together(together)
            killed = set()
            if failed:
                for each in self._each(together, partial(_asked_alone, failed), limit=LIMIT):
                    if each.killed_by:
                        killed.add(each.mutant)
                        yield each
            left = [each for each in left if each not in killed]
            if not killed:
                yield from (Outcome(each, "") for each in together)
                left = [each for each in left if each not in together]

    def _each(
        self,
        mutants: Iterable[Mutant],
        stages: Callable[[Mutant, Path], Iterable[Sequence[str]]],
        *,
        limit: int,
    ) -> Iterator[Outcome]:
        def try_one(mutant: Mutant) -> Outcome:
            with self._mutated([mutant]) as copy:
                found = (
                    _failures(each, copy, limit=limit, first=True)
                    for each in stages(mutant, copy)
                    if each
                )
                return Outcome(mutant, next((each[0] for each in found if each), ""))

        with ThreadPoolExecutor(self._workers) as pool:
            yield from pool.map(try_one, mutants)

    def _failed_together(self, mutants: Sequence[Mutant]) -> Sequence[str]:
        """Return the tests that fail with all mutants; all tests if the run ended otherwise."""
        side_by_side = (f"--numprocesses={self._workers}", "--dist=loadfile")
        with self._mutated(mutants) as copy:
            failed = _failures((*side_by_side, *self._tests), copy, limit=LIMIT)
        names = [each.removeprefix("FAILED ").removeprefix("ERROR ") for each in failed]
        return names if all("::" in each for each in names) else self._tests

    @contextmanager
    def _mutated(self, mutants: Iterable[Mutant]) -> Iterator[Path]:
        copy = self._copies.get()
        sources = {each.file: (copy / each.file).read_bytes() for each in mutants}
        changed = dict(sources)
        for each in sorted(mutants, key=lambda mutant: mutant.start, reverse=True):
            changed[each.file] = each.apply(changed[each.file])
        try:
            for name, source in changed.items():
                _write(copy / name, source)
            yield copy
        finally:
            for name, source in sources.items():
                _write(copy / name, source)
            self._copies.put(copy)


def _write(file: Path, source: bytes) -> None:
    """
    Forget the compiled module too: Python compares whole seconds and sizes, which a mutant may leave.
    """
    file.write_bytes(source)
    for each in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        each.unlink()


def _without_overlaps(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return mutants that can be applied together; of those that overlap, the first."""
    chosen: list[Mutant] = []
    for each in mutants:
        if not any(
            each.file == other.file and each.start < other.end and other.start < each.end
            for other in chosen
        ):
            chosen.append(each)
    return chosen


def _asked_alone(tests: Sequence[str], mutant: Mutant, copy: Path) -> tuple[Sequence[str], ...]:
    return (tests,)


def _asked_first(
    mutants: Mapping[Mutant, str], mutant: Mutant, copy: Path
) -> tuple[Sequence[str], ...]:
    """
    Return the file that killed the mutant before, as pytest's summary names it, and its own tests.
    """
    file = mutants[mutant].rpartition(" ")[2].partition("::")[0]
    known = (file,) if file and (copy / file).is_file() else ()
    return known, _tests_of(mutant, copy)


def _tests_of(mutant: Mutant, copy: Path) -> tuple[str, ...]:
    """Return the test files that import the changed module."""
    module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = module.rpartition(".")
    wanted = (f"from {module} import", f"from {parent} import {name}\n", f"import {module}\n")
    return tuple(
        str(file.relative_to(copy))
        for file in sorted((copy / "tests").rglob("test_*.py"))
        if any(each in file.read_text("utf-8") for each in wanted)
        and not str(file.relative_to(copy)).startswith(NO_MUTANT)
    )


def _failures(
    arguments: Sequence[str], copy: Path, *, limit: int, first: bool = False
) -> list[str]:
    """Return the failed tests as pytest's summary names them, or how the run ended otherwise."""
    command = [
        *(sys.executable, "-m", "pytest", "--quiet", "--no-header", "--tb=no"),
        *("-p", "no:cacheprovider", f"--maxfail={1 if first else MANY}"),
        *(*(f"--ignore={each}" for each in NO_MUTANT), *arguments),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return [f"no end within {limit} s"]
    if done.returncode == 0:
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [each.partition(" - ")[0] for each in lines] or [f"exit code {done.returncode}"]
