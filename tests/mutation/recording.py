"""
Record which test executes which line of the program: a plugin of pytest, for one run without mutants.

Only lines that a test executes in its own process are seen. Not seen are command lines in processes of
their own, what runs while modules are imported, and, for all tests but the first, what a shared fixture
or a cache made once.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest


FOLDER_VARIABLE = "MUTATION_RECORDING"
"""Name of the environment variable with the folder for what is recorded."""


class LineRecorder:
    """Writes the lines and the seconds of each test into files of this process."""

    def __init__(self, folder: Path) -> None:
        self._seconds_file = folder / f"seconds-{os.getpid()}.json"
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._coverage = coverage.Coverage(
            data_file=str(folder / f"lines-{os.getpid()}"), config_file=False, source=["reporter"]
        )
        self._coverage.set_option("run:relative_files", True)
        self._coverage.set_option("run:core", "ctrace")
        self._coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        passed = {name: each for name, each in self._seconds.items() if name not in self._failed}
        self._seconds_file.write_text(json.dumps(passed))


def pytest_configure(config: pytest.Config) -> None:
    """Record in the processes that run tests, not in the one that distributes them."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(LineRecorder(Path(os.environ[FOLDER_VARIABLE])))
