"""
The real cases about reasons that no test of the suite causes, on the API server in memory.

Both servers are held to the same cases. Needs no control plane.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.scenarios.cases.real_cases import REAL_CASES, replay_case
from e2e.suite.announces import reasons_without_test
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.embedded_plane import EmbeddedPlane
from e2e.support.observer import DOWNLOAD_REASON
from reporter.stages.probes.specs import SPECS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


REASONS = {
    str(entry.reason)
    for entry in DEFAULT_CATALOGUE.entries.values()
    if not entry.is_ready_reason
    and (
        SPECS[entry.probe].scrape is not None
        or SPECS[entry.probe].source is not None
        or entry.probe == "pod-restarting"
    )
} - {DOWNLOAD_REASON}
NAMES = [name for name, case in REAL_CASES.items() if REASONS.intersection(case["of"])]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with EmbeddedPlane() as plane:
        yield plane


def test_each_of_these_reasons_has_a_case() -> None:
    # The case of the store compares the status with a kubeconfig, which this server does not have.
    missing = reasons_without_test() - {"clusterHealthEventStoreFull"}
    assert {reason for name in NAMES for reason in REAL_CASES[name]["of"]} >= missing


@pytest.mark.parametrize("name", NAMES)
def test_announces_what_the_case_expects(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    replay_case(plane, objects, name, grant=False)
