"""
Check that the suite notices when any one reason is not announced.

On a control plane made here each reason that a test carries the mark of is switched off in turn by
an overlay of the catalogue, and one of these tests must fail for want of its Event. The Ready
reasons cannot be switched off, so the API server refuses their Events. Before that the same tests
run with nothing switched off, and must pass. Exits with 1 if any of this does not hold.
"""

import argparse
import subprocess
import sys
import textwrap
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from e2e.controlplane import ControlPlane, assets
from e2e.suite import local_cluster
from e2e.suite.announces import ROOT, collect_tests
from e2e.support.event_denial import denied_events
from e2e.support.production_stack import components, restore
from reporter.model.enums import Reason
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    tests = collect_tests()
    reasons = arguments.reasons or list(tests)
    with ControlPlane() as plane:
        components.install(plane.client)
        trial = MutationTrial(plane, arguments.within_seconds)
        failed = trial.failures(sorted({test for each in reasons for test in tests.get(each, ())}))
        print("\n".join(["With nothing switched off:", *(failed or ["all passed"])]), flush=True)
        noticed = (
            [] if failed else [_is_noticed(trial, each, tests.get(each, ())) for each in reasons]
        )
    return int(bool(failed) or not all(noticed))


def _is_noticed(trial: "MutationTrial", reason: str, tests: Collection[str]) -> bool:
    """Return whether a test failed for want of the reason's Event, and print the outcome."""
    failed = trial.failures(tests, off=reason)
    found = any(f"Event {reason} of" in each for each in failed)
    verdict = "noticed" if found else "failed otherwise" if failed else "NOT NOTICED"
    print(f"{verdict:16} {reason:38} {' '.join(tests)}", flush=True)
    if not found:
        print(textwrap.indent("\n".join(failed), "  "), flush=True)
    return found


@dataclass(frozen=True)
class MutationTrial:
    """*within*: the seconds in which all that is due is announced."""

    plane: ControlPlane
    within: float

    def failures(self, which: Collection[str], off: str = "") -> list[str]:
        """Return the first line of each failure. *off*: the reason that is not announced."""
        with restore.healthy_stack(self.plane), ExitStack() as running:
            evaluated = bool(off) and not DEFAULT_CATALOGUE[Reason(off)].is_ready_reason
            if off and not evaluated:
                running.enter_context(denied_events(self.plane.client, "switched off", off))
            running.enter_context(
                local_cluster.reporters(self.plane, replicas=1, off=off if evaluated else "")
            )
            return list(_failures(self._tested(which)))

    def _tested(self, which: Collection[str]) -> Path:
        """Return the report in JUnit's format. Raise RuntimeError if the run wrote none."""
        report = self.plane.folder / "switched-off.xml"
        command = [
            *(sys.executable, "-m", "pytest", *which),
            *(f"--kubeconfig={self.plane.kubeconfig()}", f"--quiet-seconds={local_cluster.QUIET}"),
            *(f"--within-seconds={self.within:g}", f"--junitxml={report}"),
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            raise RuntimeError(f"{done.stdout}\n{done.stderr}")
        return report


def _failures(report: Path) -> Iterator[str]:
    """Yield failed and skipped tests: a skipped one would not have noticed anything."""
    for case in ET.parse(report).iter("testcase"):
        for each in case:
            if each.tag in {"failure", "error", "skipped"}:
                yield f"{case.get('name')}: {each.get('message', '').partition(chr(10))[0]}"


def _reason(text: str) -> str:
    if text not in DEFAULT_CATALOGUE.entries:
        raise argparse.ArgumentTypeError(f"not a reason of the catalogue: {text}")
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m e2e.suite.mutation", description=__doc__)
    parser.add_argument(
        "reasons", nargs="*", metavar="REASON", type=_reason, help="only these; default: all"
    )
    parser.add_argument(
        "--within-seconds",
        type=float,
        default=40,
        help="within which all that is due must be announced; each reason takes a little longer",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
