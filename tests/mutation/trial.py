"""Run the fast tests on copies of the sources, each with one mutant."""

import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.mutation import recording
from tests.mutation.mutants import Mutant
from tests.mutation.selection import Recording, file_of


ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", ".bench", "dist")
CORE = ("tests/cases", "tests/unit", "tests/property")
REST = ("tests/fuzz", "tests/simulation", "tests/conformance", "tests/integration")
NO_MUTANT = ("tests/integration/page", "tests/integration/process")
"""Browser and processes, which show what no change of one expression in these modules changes."""

STARTING, FACTOR = 60, 20
"""
Seconds in which a run begins, and the multiple of the recorded seconds after which a mutant has no end:
that is noticed too. Recorded is under the tracer, which takes a multiple itself.
"""
RECORDING = ("-p", recording.__name__, "--hypothesis-profile=quick")
"""A fourth of the examples of a law executes nearly all of its lines."""
NO_LIMIT = 4 * 3600
"""Seconds for the recording, which nothing is known of."""

NOT_FOUND = 4
"""Exit code of pytest if the mutant has changed which tests there are."""
NOTHING: Mapping[str, str] = {}

MANY = 60
"""Failed tests that are enough to ask each mutant by itself."""


@dataclass(frozen=True)
class Outcome:
    """
    *killed_by*: the first test that failed, or why the run ended otherwise; empty if all passed.
    *asked_all*: all tests, and not only those that execute the line.
    """

    mutant: Mutant
    killed_by: str
    asked_all: bool

    @property
    def is_final(self) -> bool:
        return bool(self.killed_by) or self.asked_all


class Trial:
    """
    Copies of the sources, one for each worker. *rest*: ask more than the core of the tests.

    First each mutant is put to the tests that execute its line, as one run of all tests recorded it.
    The recording misses processes, shared fixtures and caches, so what is left is put to all tests
    together: only if one of these fails, each is put to the failed ones by itself. So the mutants that
    are left cost a few runs of all tests, and not one each.
    """

    def __init__(self, folder: Path, recorded: Path, *, workers: int, rest: bool = True) -> None:
        self._tests, self._workers = (*CORE, *(REST if rest else ())), workers
        self._copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(workers):
            copy = folder / f"copy-{number}"
            shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
            self._copies.put(copy)
        self._recorded = self._record(recorded)

    def ask_lines(self, mutants: Mapping[Mutant, str]) -> Iterator[Outcome]:
        """
        Yield the outcome of each mutant at the tests that execute its line.

        *mutants*: with the test that is asked first, or "".
        """
        with self._mutated([]) as copy:
            runs = {
                each: list(self._runs_of(each, killer, copy)) for each, killer in mutants.items()
            }
        yield from self._ask_each(runs, asked_all=False)

    def ask_all(self, left: Sequence[Mutant]) -> Iterator[Outcome]:
        """Yield the outcome of each mutant at all tests."""
        while left:
            together = _without_overlaps(left)
            failed = self._failed_together(together)
            if failed is None and len(together) > 1:
                known = {*together}
                yield from self.ask_all(together[::2])
                yield from self.ask_all(together[1::2])
            else:
                runs = [self._tests if failed is None else failed]
                outcomes = list(self._ask_each(dict.fromkeys(together, runs), asked_all=True))
                known = {each.mutant for each in outcomes if each.killed_by} or {*together}
                yield from (each for each in outcomes if each.mutant in known)
            left = [each for each in left if each not in known]

    def _record(self, folder: Path) -> Recording:
        """Return what an earlier call recorded in the folder, or record it."""
        found = Recording(folder)
        if not found.seconds:
            with self._mutated([]) as copy:
                arguments = (*RECORDING, *self._side_by_side(), *self._tests)
                folder.mkdir(exist_ok=True)
                environment = {recording.FOLDER_VARIABLE: str(folder)}
                failed = _failures(arguments, copy, limit=NO_LIMIT, environment=environment)
            print(
                *(f"fails without a mutant, so it is not asked: {each}" for each in failed),
                sep="\n",
            )
            found = Recording(folder)
        return found

    def _runs_of(self, mutant: Mutant, killer: str, copy: Path) -> Iterator[list[str]]:
        """Yield the tests of the file that killed the mutant before, and those of its line."""
        file = file_of(killer.partition(" ")[2])
        yield [each for each in self._recorded.seconds if file_of(each) == file]
        source = (copy / mutant.file).read_bytes()
        yield from self._recorded.runs_of(mutant, source, _importing(mutant, copy))

    def _ask_each(
        self, runs: Mapping[Mutant, Iterable[Sequence[str]]], *, asked_all: bool
    ) -> Iterator[Outcome]:
        def ask(mutant: Mutant) -> Outcome:
            with self._mutated([mutant]) as copy:
                found = (self._first_failure(each, copy) for each in runs[mutant] if each)
                return Outcome(mutant, next(filter(None, found), ""), asked_all)

        with ThreadPoolExecutor(self._workers) as pool:
            for each in as_completed([pool.submit(ask, mutant) for mutant in runs]):
                yield each.result()

    def _first_failure(self, tests: Sequence[str], copy: Path) -> str:
        with NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(tests))
            file.flush()
            failed = _failures(("--maxfail=1", f"@{file.name}"), copy, limit=self._limit(tests))
        if failed == [f"exit code {NOT_FOUND}"]:
            files = sorted({file_of(each) for each in tests})
            return self._first_failure(files, copy) if files != [*tests] else failed[0]
        return failed[0] if failed else ""

    def _failed_together(self, mutants: Sequence[Mutant]) -> Sequence[str] | None:
        """Return the tests that fail with all mutants; None if the run ended otherwise."""
        with self._mutated(mutants) as copy:
            arguments = (f"--maxfail={MANY}", *self._side_by_side(), *self._tests)
            failed = _failures(arguments, copy, limit=self._limit(self._tests))
        names = [
            each.partition(" ")[2] for each in failed if each.startswith(("FAILED ", "ERROR "))
        ]
        if len(names) < len(failed):
            return None
        return [each for each in names if each in self._recorded.seconds or "::" not in each]

    def _side_by_side(self) -> tuple[str, ...]:
        return (f"--numprocesses={self._workers}", "--dist=loadfile")

    def _limit(self, tests: Sequence[str]) -> float:
        """Return the seconds after which a run of tests, files or all folders has no end."""
        asked, seconds = {*tests}, self._recorded.seconds
        if tests != self._tests:
            seconds = {n: each for n, each in seconds.items() if n in asked or file_of(n) in asked}
        return STARTING + FACTOR * sum(seconds.values())

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


def _importing(mutant: Mutant, copy: Path) -> tuple[str, ...]:
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
    arguments: Sequence[str], copy: Path, *, limit: float, environment: Mapping[str, str] = NOTHING
) -> list[str]:
    """Return the failed tests as pytest's summary names them, or how the run ended otherwise."""
    command = [
        *(sys.executable, "-m", "pytest", "--quiet", "--no-header", "--tb=no"),
        *("-p", "no:cacheprovider", *(f"--ignore={each}" for each in NO_MUTANT), *arguments),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return [f"no end within {limit:.0f} s"]
    if done.returncode == 0:
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [each.partition(" - ")[0] for each in lines] or [f"exit code {done.returncode}"]
