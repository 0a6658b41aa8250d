"""
Order of tests, and their distribution over processes side by side: whole files, with exceptions.
"""

from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


WHOLE_FOLDERS = frozenset({"e2e/chart/alerts", "e2e/conformance", "e2e/scenarios/job_status"})
"""
Folders whose files share what one process makes once: a control plane of their own, states of the reporter.
"""

ON_SMALL_PLANE = (
    "e2e/faults/test_admission",
    "e2e/faults/test_event_writes",
    "e2e/faults/test_http_clients",
    "e2e/faults/test_metrics_pages",
    "e2e/faults/test_missed_events",
    "e2e/scenarios/announcing",
    "e2e/scenarios/cases",
    "e2e/scenarios/health_events",
    "e2e/scenarios/status_objects",
    "e2e/scenarios/test_engine_stall",
    "e2e/scenarios/test_shared_plane",
    "e2e/scenarios/test_sources",
)
"""Most files that use the small control plane. One that is missing here costs a start more, and nothing else."""

CASES = "tests/cases/test_cases.py"
SINGLE_TESTS = frozenset({CASES})
"""Files whose tests share nothing and take long. One process alone would be the last to end."""


def rank_of(nodeid: str) -> int:
    """
    Return the place of a test, the lowest first: of all tests that a fault fails, a case says the most.

    The tests on a real control plane stay where they were asked for, which is before the others.
    """
    if nodeid.startswith((CASES, "e2e/")):
        return 0
    return 1 if nodeid.startswith("tests/cases/") else 2


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    def _assign_work_unit(self, node: Any) -> None:
        """
        Give two of five processes first what uses the small control plane, and the others last: each kind
        of control plane is started by few, and costs processor time as long as it runs.
        """
        wants_small = int(node.gateway.id.removeprefix("gw")) % 2 == 1
        for scope in self.workqueue:
            if scope.startswith(ON_SMALL_PLANE) == wants_small:
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        if file in SINGLE_TESTS:
            return nodeid
        folder = str(PurePosixPath(file).parent)
        return folder if folder in WHOLE_FOLDERS else file


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
