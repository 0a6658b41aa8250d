"""
Run the fast tests on copies of the sources, each with one mutant.
"""

import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant


ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", ".bench", "dist")
CORE = ("tests/cases", "tests/unit", "tests/property")
"""
Most mutants fail here within seconds. The other folders are asked about those that are left.
"""

REST = ("tests/fuzz", "tests/simulation", "tests/conformance", "tests/integration")
NO_MUTANT = ("tests/integration/page", "tests/integration/process")
"""
Browser and processes, which show what no change of one expression in these modules changes.
"""

TIMEOUT = 900
"""
Seconds; a mutant that never ends is noticed too.
"""


@dataclass(frozen=True)
class Outcome:
    """
    *killed_by*: the first test that failed, or why the run ended otherwise; empty if all passed.
    """

    mutant: Mutant
    killed_by: str


def try_all(
    mutants: Mapping[Mutant, str], *, workers: int, folder: Path, core: bool = False
) -> Iterator[Outcome]:
    """
    Yield the outcome of each mutant as it is known.

    *mutants*: with the test that is asked first, or "". *folder*: where the copies are made.
    *core*: ask only the core of the tests.
    """
    rest = () if core else REST
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(workers):
        copy = folder / f"copy-{number}"
        shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
        copies.put(copy)

    def try_one(mutant: Mutant) -> Outcome:
        copy = copies.get()
        try:
            first = _file_of(mutants[mutant], copy)
            stages = (first, _tests_of(mutant, copy), CORE, rest)
            return Outcome(mutant, _killed_by(mutant, copy, stages))
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(try_one, mutants)


def _file_of(test: str, copy: Path) -> Sequence[str]:
    """
    Return the file of a test as pytest names it in its summary, if it is still there.
    """
    file = test.rpartition(" ")[2].partition("::")[0]
    return (file,) if file and (copy / file).is_file() else ()


def _killed_by(mutant: Mutant, copy: Path, stages: Sequence[Sequence[str]]) -> str:
    file = copy / mutant.file
    source = file.read_bytes()
    try:
        file.write_bytes(mutant.apply(source))
        _forget_compiled(file)
        for tests in stages:
            if tests and (found := _first_failure(tests, copy)):
                return found
        return ""
    finally:
        file.write_bytes(source)
        _forget_compiled(file)


def _forget_compiled(file: Path) -> None:
    """
    Remove the compiled module: Python compares whole seconds and sizes, which a mutant may leave.
    """
    for each in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        each.unlink()


def _tests_of(mutant: Mutant, copy: Path) -> tuple[str, ...]:
    """
    Return the test files that import the changed module.
    """
    module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = module.rpartition(".")
    wanted = (f"from {module} import", f"from {parent} import {name}\n", f"import {module}\n")
    return tuple(
        str(file.relative_to(copy))
        for file in sorted((copy / "tests").rglob("test_*.py"))
        if any(each in file.read_text("utf-8") for each in wanted)
        and not str(file.relative_to(copy)).startswith(NO_MUTANT)
    )


def _first_failure(tests: Sequence[str], copy: Path) -> str:
    command = [
        *(sys.executable, "-m", "pytest", "--exitfirst", "--quiet", "--no-header", "--tb=no"),
        *("-p", "no:cacheprovider", *(f"--ignore={each}" for each in NO_MUTANT), *tests),
    ]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT} s"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].partition(" - ")[0] if failed else f"exit code {done.returncode}"
