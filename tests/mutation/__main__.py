"""
Change a sample of expressions of the program one by one, and name those that no fast test notices.

Each capability gives the same number of mutants, chosen by the seed. Some survivors change nothing that
can be observed; each of the others is a hole in the tests. One run records which test executes which
line (:mod:`tests.mutation.recording` says what it misses); a mutant is put to these tests, those that
none of them kills are put to all tests together.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.mutation.mutants import Mutant, find_mutants
from tests.mutation.trial import ROOT, Outcome, Trial


OUTCOMES = "outcomes.jsonl"
"""The file of the results to which each outcome is added as soon as it is known."""

CAPABILITIES: Mapping[str, Sequence[str]] = {
    "evaluation": ["evaluation"],
    "probes": ["probes"],
    "announcing": ["announcing"],
    "status": ["rollup", "status", "cli/status.py"],
    "hub": ["hub"],
    "history": ["history"],
    "kube": ["kube"],
    "job": ["job"],
    "cel": ["cel"],
}
"""Files and folders of ``reporter/``."""


def main() -> int:
    arguments = _arguments()
    mutants = _killed_in(arguments.again) if arguments.again else _sample(arguments)
    with tempfile.TemporaryDirectory(prefix="mutation-") as copies:
        results = arguments.results or Path(copies)
        results.mkdir(parents=True, exist_ok=True)
        known = _outcomes_in(results / OUTCOMES)
        trial = Trial(Path(copies), results, workers=arguments.workers, rest=not arguments.core)
        new = {each: killer for each, killer in mutants.items() if each not in known}
        for outcome in trial.ask_lines(new):
            known[outcome.mutant] = outcome
            _tell(outcome, results / OUTCOMES)
        left = [each for each in mutants if not known[each].is_final]
        for outcome in trial.ask_all(left):
            known[outcome.mutant] = outcome
            _tell(outcome, results / OUTCOMES)
    outcomes = [known[each] for each in mutants]
    killed = [each for each in outcomes if each.killed_by]
    alone = sum(not each.asked_all for each in killed)
    print(
        f"{len(killed)} of {len(mutants)} mutants were killed, {alone} of them by their lines' tests"
    )
    return int(bool(arguments.again) and len(killed) < len(mutants))


def _tell(outcome: Outcome, file: Path) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps(asdict(outcome)) + "\n")
    if outcome.is_final:
        mutant = outcome.mutant
        change = " ".join(f"{mutant.before} -> {mutant.after}".split())[:120]
        verdict = f"killed by {outcome.killed_by}" if outcome.killed_by else "SURVIVED"
        print(f"{mutant.file}:{mutant.line}: {change}: {verdict}", flush=True)


def _outcomes_in(file: Path) -> dict[Mutant, Outcome]:
    """Return the last outcome of each mutant."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        each = json.loads(line)
        mutant = Mutant(**each.pop("mutant"))
        found[mutant] = Outcome(mutant, **each)
    return found


def _sample(arguments: argparse.Namespace) -> dict[Mutant, str]:
    """Choose mutants by the seed, as many of each capability."""
    chosen: list[Mutant] = []
    share = -(-arguments.count // len(CAPABILITIES))
    for name, places in CAPABILITIES.items():
        files = [file for place in places for file in _files(place)]
        found = [each for file in files for each in _mutants_of(file)]
        random.Random(f"{arguments.seed} {name}").shuffle(found)
        chosen += found[:share]
    return dict.fromkeys(chosen, "")


def _killed_in(file: Path) -> dict[Mutant, str]:
    """
    Return the mutants that an earlier run killed, where they are now, with the test that did it.

    Name those whose expression is gone.
    """
    found: dict[Mutant, str] = {}
    for before, outcome in _outcomes_in(file).items():
        path = ROOT / before.file
        now = [m for m in _mutants_of(path) if m.name == before.name] if path.exists() else []
        if not now:
            print(f"no longer there: {before.name}")
        elif outcome.killed_by:
            found[min(now, key=before.distance)] = outcome.killed_by
    return found


def _files(place: str) -> list[Path]:
    path = ROOT / "reporter" / place
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    if not found:
        raise SystemExit(f"reporter/{place} has no modules: correct CAPABILITIES")
    return found


def _mutants_of(file: Path) -> list[Mutant]:
    return find_mutants(str(file.relative_to(ROOT)), file.read_bytes())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", default="1", help="chooses the mutants")
    parser.add_argument("--count", type=int, default=100, help="mutants in all, at least")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried side by side")
    parser.add_argument(
        "--core", action="store_true", help="ask only the core: cases, unit tests and laws"
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="folder for the recording and the outcomes: an interrupted call goes on, on the same sources",
    )
    parser.add_argument(
        "--again",
        type=Path,
        help="outcomes.jsonl of another folder: try what was killed then, and fail if one survives now",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
