"""
Distribution of tests over processes side by side: whole files, and some folders as a whole.
"""

from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


WHOLE_FOLDERS = frozenset({"e2e/conformance", "e2e/chart/alerts"})
"""
Folders whose files share what one process makes once: a control plane of their own, states of the reporter.
"""


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        folder = str(PurePosixPath(file).parent)
        return folder if folder in WHOLE_FOLDERS else file


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
