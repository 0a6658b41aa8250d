"""
The case files of ``tests/cases`` that are marked as real.
"""

from collections.abc import Mapping
from typing import Any

from e2e.controlplane import ControlPlane
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.cluster_replay import (
    SUPPORTED_KEYS,
    ClusterCaseReplay,
    differences,
    line,
)
from e2e.support.cases.status_comparison import CaseStatus
from e2e.support.events import Event
from reporter.model.enums import Layer, Reason
from tests.support.cases.case_files import read_cases
from tests.support.cases.expectations import expected_announcements
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


REAL_CASES: dict[str, Any] = {
    name: case for name, case in read_cases().items() if case.get("real")
}


class CaseNotReplayable(Exception):
    """
    A case that is marked as real and that the replay on a real API server cannot check.
    """


def of_layer(layer: Layer, cases: Mapping[str, Any] = REAL_CASES) -> list[str]:
    """
    Return the names of the cases whose first announcement is of this layer.

    Raise CaseNotReplayable for a case that must not be marked as real.
    """
    return [name for name, case in cases.items() if _first_layer(name, case) is layer]


def _first_layer(name: str, case: Any) -> Layer:
    announcements = expected_announcements(case)
    if not announcements:
        raise CaseNotReplayable(
            f"tests/cases/{name}.yaml announces nothing, and the replay on a real API server waits"
            " for announcements: remove its real: true"
        )
    steps = (case.get("given", {}), *case["story"])
    if odd := sorted({key for step in steps for key in step} - SUPPORTED_KEYS):
        raise CaseNotReplayable(
            f"tests/cases/{name}.yaml has steps that are replayed on the core only"
            f" ({', '.join(odd)}): remove its real: true"
        )
    _, first = announcements[0]
    return DEFAULT_CATALOGUE[Reason(first.split()[1])].layer


def replay_case(
    plane: ControlPlane, objects: CaseClusterObjects, name: str, *, grant: bool = True
) -> list[Event]:
    """
    Replay a case, assert that exactly its announcements were written, and return them.

    After each step the status, by one reading of the cluster, has to name the same cause.

    *grant*: False for an API server without RBAC.
    """
    case = REAL_CASES[name]
    status = CaseStatus(plane, case)
    written = ClusterCaseReplay(plane, objects, case, grant, status.compare).run()
    found = differences(written, case)
    assert not found, "\n".join([case["why"], *found, "", "written was", *map(line, written)])
    assert len({each.version for each in written}) == len(written)
    assert not status.differences, "\n".join([case["why"], *status.differences])
    return written
