"""
Check that the suite fails if any one reason is not announced.

On a local control plane each reason is disabled in turn with an overlay of the catalogue, and the
test of that reason must fail as its Event is missing. The Ready reason of a layer cannot be
disabled, so the API server denies its Events instead. Before that, the same tests must pass with
all reasons enabled. Exits with 1 otherwise.
"""

import argparse
import subprocess
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from e2e.controlplane import ControlPlane, assets
from e2e.suite import local_cluster
from e2e.support.event_denial import denied_events
from e2e.support.production_stack import components, restore
from reporter.model.enums import Reason
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ROOT = Path(__file__).parents[2]
_ZERO = "cluster_status.py::test_component_at_zero_is_announced_until_it_is_back"
_RANKS = "cluster_status.py::test_each_outage_of_higher_rank_is_announced"
_GATING = "gating.py::test_downstream_is_suppressed_by_upstream_and_announced_after_it"
_HARNESS = "harness.py::test_outage_of_a_harness_is_announced_until_it_ends"
_MODEL = "models.py::test_outage_of_a_model_is_announced_until_it_ends"
_LIMIT = "endpoint_pickers.py::test_invalid_scaling_limit_is_announced_until_it_is_corrected"
TESTS_BY_REASON = {
    "clusterCRDMissing": "cluster_status.py::test_missing_crd_is_announced_until_it_is_back",
    "clusterIstioControlPlaneNotReady": _RANKS,
    "clusterGatewayAuthNotReady": _RANKS,
    "clusterBBRNotReady": _ZERO,
    "clusterKaitoControllerNotReady": _GATING,
    "clusterNodeProvisionerNotReady": _RANKS,
    "clusterKedaNotReady": _RANKS,
    "clusterKedaKaitoScalerNotReady": _RANKS,
    "clusterReady": _ZERO,
    "modelharnessGatewayClassMissing": f"{_HARNESS}[class]",
    "modelharnessGatewayProgrammingFailed": f"{_HARNESS}[gateway]",
    "modelharnessGatewayDataPlaneNotReady": f"{_HARNESS}[proxies]",
    "modelharnessExtAuthzProviderMissing": f"{_HARNESS}[authorization]",
    "modelharnessAPIKeyReconcileFailed": f"{_HARNESS}[keys]",
    "modelharnessCatchAllFilterRejected": f"{_HARNESS}[catch-all]",
    "modelharnessNetworkPolicyMisconfigured": f"{_HARNESS}[policy]",
    "modelharnessReady": f"{_HARNESS}[policy]",
    "inferencesetScalingMisconfigured": _LIMIT,
    "inferencesetInfraProvisioningFailed": f"{_MODEL}[invalid-instance-type]",
    "inferencesetModelPodsNotReady": f"{_MODEL}[image]",
    "inferencesetRouteNotReady": f"{_MODEL}[route]",
    "inferencesetEPPNotReady": "endpoint_pickers.py::test_picker_at_zero_is_announced_until_it_is_back",
    "inferencesetWeightDownloadSlow": (
        "slow_download.py::test_slow_download_is_announced_once_and_ends_with_its_pod"
    ),
    "inferencesetNodeUnderPressure": f"{_MODEL}[pressure]",
    "inferencesetReady": _LIMIT,
}
"""
For each reason a test that must fail without it; others may fail too.
"""


def main() -> int:
    arguments = _arguments()
    reasons = arguments.reasons or list(TESTS_BY_REASON)
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    with ControlPlane() as plane:
        components.install(plane.client)
        trial = MutationTrial(plane, arguments.within_seconds)
        failed = trial.failures(select_tests(reasons))
        print("\n".join(["With all reasons enabled:", *(failed or ["all passed"])]), flush=True)
        detected = [] if failed else [_is_detected(trial, reason) for reason in reasons]
    return int(bool(failed) or not all(detected))


def _is_detected(trial: "MutationTrial", reason: str) -> bool:
    """
    Return whether the test of a reason fails without its Event, and print the result.
    """
    failed = trial.failures(select_tests([reason]), off=reason)
    detected = any(f"Event {reason} of" in message for message in failed)
    result = "detected" if detected else "failed otherwise" if failed else "NOT DETECTED"
    print(f"{result:16} {reason:38} {TESTS_BY_REASON[reason]}", flush=True)
    if not detected:
        print(textwrap.indent("\n".join(failed), "  "), flush=True)
    return detected


def select_tests(reasons: Iterable[str]) -> list[str]:
    """
    Return the tests of *reasons* by their pytest ids, each once and sorted by file.
    """
    return sorted({f"e2e/suite/test_{TESTS_BY_REASON[each]}" for each in reasons})


@dataclass(frozen=True)
class MutationTrial:
    """
    Runs tests with one reason disabled; *within* is their Event timeout in seconds.
    """

    plane: ControlPlane
    within: float

    def failures(self, tests: Collection[str], off: str = "") -> list[str]:
        """
        Return the first line of each failure; *off* is the reason to disable.
        """
        with restore.healthy_stack(self.plane), ExitStack() as running:
            has_overlay = bool(off) and not DEFAULT_CATALOGUE[Reason(off)].is_ready_reason
            if off and not has_overlay:
                running.enter_context(denied_events(self.plane.client, "disabled", off))
            running.enter_context(
                local_cluster.reporters(self.plane, replicas=1, off=off if has_overlay else "")
            )
            return list(_failures(self._run_tests(tests)))

    def _run_tests(self, tests: Collection[str]) -> Path:
        """
        Run tests and return the report in JUnit's format. Raise RuntimeError if pytest fails otherwise.
        """
        report = self.plane.folder / "mutation.xml"
        command = [
            *(sys.executable, "-m", "pytest", *tests),
            *(f"--kubeconfig={self.plane.kubeconfig()}", f"--quiet-seconds={local_cluster.QUIET}"),
            *(f"--within-seconds={self.within:g}", f"--junitxml={report}"),
        ]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if process.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            raise RuntimeError(f"{process.stdout}\n{process.stderr}")
        return report


def _failures(report: Path) -> Iterator[str]:
    """
    Yield failures, errors and skips; a skipped test cannot detect anything.
    """
    for case in ET.parse(report).iter("testcase"):
        for result in case:
            if result.tag in {"failure", "error", "skipped"}:
                yield f"{case.get('name')}: {result.get('message', '').partition(chr(10))[0]}"


def _reason(text: str) -> str:
    if text not in TESTS_BY_REASON:
        raise argparse.ArgumentTypeError(f"not a reason of the catalogue: {text}")
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m e2e.suite.mutation", description=__doc__)
    parser.add_argument(
        "reasons",
        nargs="*",
        metavar="REASON",
        type=_reason,
        help="reasons to disable; default: all",
    )
    parser.add_argument(
        "--within-seconds",
        type=float,
        default=40,
        help="seconds to wait for an Event; each reason takes a little longer; default: %(default)s",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
