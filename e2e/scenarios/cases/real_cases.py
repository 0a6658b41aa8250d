"""The case files of ``tests/cases`` that are marked as real."""

from collections.abc import Mapping
from typing import Any

from e2e.controlplane import ControlPlane
from e2e.support.cases.case_lines import differences
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.cluster_replay import (
    SUPPORTED_AT_START,
    SUPPORTED_KEYS,
    ClusterCaseReplay,
    line,
)
from e2e.support.cases.slow_steps import find_delays
from e2e.support.cases.status_comparison import CaseStatus
from e2e.support.events import Event
from reporter.model.enums import Layer, Reason
from reporter.stories.format import expected_announcements
from tests.support.cases import case_catalogue, read_cases


REAL_CASES: dict[str, Any] = {
    name: case for name, case in read_cases().items() if case.get("real")
}


class CaseNotReplayable(Exception):
    """A case that is marked as real and that the replay on a real API server cannot check."""


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
    odd = {key for step in case["story"] for key in step} - SUPPORTED_KEYS
    odd |= case.get("given", {}).keys() - SUPPORTED_AT_START
    if odd:
        raise CaseNotReplayable(
            f"tests/cases/{name}.yaml has steps that are replayed on the core only"
            f" ({', '.join(sorted(odd))}): remove its real: true"
        )
    _, first = announcements[0]
    return case_catalogue(case)[Reason(first.split()[1])].layer


def replay_case(
    plane: ControlPlane, objects: CaseClusterObjects, name: str, *, grant: bool = True
) -> list[Event]:
    """
    Replay a case, assert that exactly its announcements were written, and return them.

    After each step the status, by one reading of the cluster, has to name the same cause.

    *grant*: False for an API server without RBAC.
    """
    case = REAL_CASES[name]
    delays = find_delays(case)
    status = CaseStatus(plane, case, delays)
    written = ClusterCaseReplay(plane, objects, case, delays, grant, status.compare).run()
    found = differences([*map(line, written)], case)
    assert not found, "\n".join([case["why"], *found, "", "written was", *map(line, written)])
    assert len({each.version for each in written}) == len(written)
    assert not status.differences, "\n".join([case["why"], *status.differences])
    return written
