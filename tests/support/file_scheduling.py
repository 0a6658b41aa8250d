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
    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        if file in SINGLE_TESTS:
            return nodeid
        folder = str(PurePosixPath(file).parent)
        return folder if folder in WHOLE_FOLDERS else file


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
