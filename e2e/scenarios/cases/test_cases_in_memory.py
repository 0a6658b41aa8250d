"""
Real cases on the API server in memory, which is held to the real one by them. Needs no control plane.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.scenarios.cases.chosen_cases import PAGES, chosen_cases, shown_by
from e2e.scenarios.cases.real_cases import REAL_CASES, replay_case
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.devcluster_plane import DevClusterPlane


WITH_A_PAGE, WITH_SEVERAL_KINDS = "engine-data-parallel", "source-karpenter-pool"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with DevClusterPlane() as plane:
        yield plane


def test_both_servers_replay_a_page_and_several_kinds() -> None:
    assert {WITH_A_PAGE, WITH_SEVERAL_KINDS} <= chosen_cases()
    assert PAGES in shown_by(REAL_CASES[WITH_A_PAGE])
    assert {"InferenceSet", "NodeClaim", "Workspace"} <= shown_by(REAL_CASES[WITH_SEVERAL_KINDS])


@pytest.mark.parametrize("name", [WITH_A_PAGE, WITH_SEVERAL_KINDS])
def test_announces_what_the_case_expects(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    replay_case(plane, objects, name, grant=False)
