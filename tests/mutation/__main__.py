"""
Change a sample of expressions of the program one by one, and name those that no fast test notices.

Each capability gives the same number of mutants, chosen by the seed. Some survivors change nothing that
can be observed; each of the others is a hole in the tests.
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
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        trial = Trial(Path(folder), workers=arguments.workers, rest=not arguments.core)
        for outcome in trial.try_all(mutants):
            outcomes.append({**asdict(outcome.mutant), "killed_by": outcome.killed_by})
            print(_line(outcome), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(outcomes, indent=1) + "\n")
    killed = sum(bool(each["killed_by"]) for each in outcomes)
    print(f"{killed} of {len(mutants)} mutants were killed")
    return int(bool(arguments.again) and killed < len(mutants))


def _line(outcome: Outcome) -> str:
    mutant = outcome.mutant
    change = " ".join(f"{mutant.before} -> {mutant.after}".split())[:120]
    verdict = f"killed by {outcome.killed_by}" if outcome.killed_by else "SURVIVED"
    return f"{mutant.file}:{mutant.line}: {change}: {verdict}"


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
    for each in json.loads(file.read_text()):
        killed_by = each.pop("killed_by")
        before = Mutant(**each)
        path = ROOT / before.file
        now = [m for m in _mutants_of(path) if m.name == before.name] if path.exists() else []
        if not now:
            print(f"no longer there: {before.name}")
        elif killed_by:
            found[min(now, key=before.distance)] = killed_by
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
    parser.add_argument("--json", type=Path, help="where the outcomes are written")
    parser.add_argument(
        "--again",
        type=Path,
        help="a file that --json wrote: try what was killed then, and fail if one survives now",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
