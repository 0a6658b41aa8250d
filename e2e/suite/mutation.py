"""
See that the suite notices it when any one reason is not told.

On a control plane made here each reason is switched off in turn, as with an overlay of the
catalogue, and the test that lives through its trouble must fail for want of its Event. The Ready of
a layer cannot be switched off, so the API server refuses it. Before that the same tests run with
nothing switched off, and must pass. Exits with 1 when any of this is not so.
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
_ZERO = "cluster_status.py::test_component_at_zero_is_told_until_it_is_back"
_RANKS = "cluster_status.py::test_each_component_at_zero_is_told_when_it_outranks_all_that_are_out"
_GATING = (
    "gating.py::test_downstream_is_silent_while_its_upstream_is_out_and_told_after_its_recovery"
)
_HARNESS = "harness.py::test_trouble_of_a_harness_is_told_until_it_is_over"
_MODEL = "models.py::test_trouble_of_a_model_is_told_until_it_is_over"
_LIMIT = "endpoint_pickers.py::test_limit_that_the_scaler_cannot_take_is_told_until_it_is_right"
TESTS_BY_REASON = {
    "clusterCRDMissing": "cluster_status.py::test_missing_crd_is_told_until_it_is_back",
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
    "inferencesetEPPNotReady": "endpoint_pickers.py::test_picker_at_zero_is_told_until_it_is_back",
    "inferencesetWeightDownloadSlow": (
        "slow_download.py::test_slow_download_is_told_once_and_is_over_with_its_pod"
    ),
    "inferencesetNodeUnderPressure": f"{_MODEL}[pressure]",
    "inferencesetReady": _LIMIT,
}
"""
Of each reason one that must notice; others may as well.
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
        failed = trial.failures(tests_for(reasons))
        print("\n".join(["With nothing switched off:", *(failed or ["all passed"])]), flush=True)
        noticed = [] if failed else [_is_noticed(trial, each) for each in reasons]
    return int(bool(failed) or not all(noticed))


def _is_noticed(trial: "MutationTrial", reason: str) -> bool:
    """
    With what became of it as a line for people.
    """
    failed = trial.failures(tests_for([reason]), off=reason)
    found = any(f"Event {reason} of" in each for each in failed)
    verdict = "noticed" if found else "failed otherwise" if failed else "NOT NOTICED"
    print(f"{verdict:16} {reason:38} {TESTS_BY_REASON[reason]}", flush=True)
    if not found:
        print(textwrap.indent("\n".join(failed), "  "), flush=True)
    return found


def tests_for(reasons: Iterable[str]) -> list[str]:
    """
    Their tests as pytest names them, each once, those of a file together.
    """
    return sorted({f"e2e/suite/test_{TESTS_BY_REASON[each]}" for each in reasons})


@dataclass(frozen=True)
class MutationTrial:
    """
    *within*: seconds in which all that is due is said.
    """

    plane: ControlPlane
    within: float

    def failures(self, which: Collection[str], off: str = "") -> list[str]:
        """
        The first line of each. *off*: a reason that is not told.
        """
        with restore.healthy_stack(self.plane), ExitStack() as running:
            judged = bool(off) and not DEFAULT_CATALOGUE[Reason(off)].is_ready_reason
            if off and not judged:
                running.enter_context(denied_events(self.plane.client, "switched off", off))
            running.enter_context(
                local_cluster.reporters(self.plane, replicas=1, off=off if judged else "")
            )
            return list(_failures(self._tested(which)))

    def _tested(self, which: Collection[str]) -> Path:
        """
        The report in JUnit's format. Raises RuntimeError when there is none to go by.
        """
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
    """
    Also what was skipped: it would have noticed nothing.
    """
    for case in ET.parse(report).iter("testcase"):
        for each in case:
            if each.tag in {"failure", "error", "skipped"}:
                yield f"{case.get('name')}: {each.get('message', '').partition(chr(10))[0]}"


def _reason(text: str) -> str:
    if text not in TESTS_BY_REASON:
        raise argparse.ArgumentTypeError(f"no reason of the catalogue: {text}")
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m e2e.suite.mutation", description=__doc__)
    parser.add_argument(
        "reasons", nargs="*", metavar="REASON", type=_reason, help="those alone; else all"
    )
    parser.add_argument(
        "--within-seconds",
        type=float,
        default=40,
        help="in which all that is due must be said; each reason takes a little longer",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
