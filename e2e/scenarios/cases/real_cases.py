"""
The case files of ``tests/cases`` that are marked as real.
"""

from typing import Any

import yaml

from e2e.controlplane import ControlPlane
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.cluster_replay import ClusterCaseReplay, differences, line
from e2e.support.cases.status_comparison import CaseStatus
from e2e.support.events import Event
from reporter.model.enums import Layer, Reason
from tests.support.cases.case_replay import expected_announcements
from tests.support.cases.healthy_stack import CASES
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


REAL_CASES: dict[str, Any] = {
    file.stem: case
    for file in sorted(CASES.glob("*.yaml"))
    if (case := yaml.safe_load(file.read_text("utf-8"))).get("real")
}


def of_layer(layer: Layer) -> list[str]:
    """
    Return the names of the cases whose first announcement is of this layer.
    """
    return [name for name, case in REAL_CASES.items() if _first_layer(case) is layer]


def _first_layer(case: Any) -> Layer:
    _, first = expected_announcements(case)[0]
    return DEFAULT_CATALOGUE[Reason(first.split()[1])].layer


def replay_case(plane: ControlPlane, objects: CaseClusterObjects, name: str) -> list[Event]:
    """
    Replay a case, assert that exactly its announcements were written, and return them.

    After each step the status, by one reading of the cluster, has to name the same cause.
    """
    case = REAL_CASES[name]
    status = CaseStatus(plane, case)
    written = ClusterCaseReplay(plane, objects, case, status.compare).run()
    found = differences(written, case)
    assert not found, "\n".join([case["why"], *found, "", "written was", *map(line, written)])
    assert len({each.version for each in written}) == len(written)
    assert not status.differences, "\n".join([case["why"], *status.differences])
    return written
