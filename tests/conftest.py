"""
Programs for the tests that need one, or a loud word that they did not run.

Hypothesis profiles: ``pytest --hypothesis-profile=deep tests/property`` takes minutes.
"""

import gc
import os
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import settings

from tests.support.browser import find_browser
from tests.support.debian import ProgramMissing
from tests.support.file_scheduling import pytest_xdist_make_scheduler
from tests.support.lua import find_lua


__all__ = ["pytest_xdist_make_scheduler"]

# The same examples in every run of the checks; the deep profile searches for new ones.
settings.register_profile("default", deadline=None, stateful_step_count=40, derandomize=True)
settings.register_profile("deep", deadline=None, stateful_step_count=80, max_examples=2000)
settings.load_profile("default")


class Needed(NamedTuple):
    """
    Programs that some tests need.

    *fixture*: the one by which such a test is known. *tests*: how to name them.
    """

    name: str
    fixture: str
    find: Callable[[], object]
    tests: str

    @property
    def skipped(self) -> str:
        return f"no {self.name.lower()}, see the end"

    @property
    def is_required(self) -> bool:
        return os.environ.get(f"{self.name}_REQUIRED") == "1"


NEEDED = (
    Needed("BROWSER", "driver", find_browser, "test(s) of the status page"),
    Needed("LUA", "lua", find_lua, "test(s) of the health check for Argo CD"),
)


def pytest_collection_finish() -> None:
    """
    Exempt the collected tests and imported modules, which stay until the end, from the collector.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Skip the tests that need a program if there is none. No other place decides that.
    """
    for needed in NEEDED:
        concerned = [i for i in items if needed.fixture in getattr(i, "fixturenames", ())]
        if concerned:
            _skip_without(needed, concerned)


def _skip_without(needed: Needed, concerned: list[pytest.Item]) -> None:
    try:
        needed.find()
    except ProgramMissing as err:
        if needed.is_required:
            raise pytest.UsageError(f"{needed.name}_REQUIRED=1, but: {err}") from err
        for item in concerned:
            item.add_marker(pytest.mark.skip(reason=needed.skipped))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """
    Count the skipped tests from the reports, because several processes may have run the tests.
    """
    skipped = terminalreporter.stats.get("skipped", [])
    for needed in NEEDED:
        count = sum(needed.skipped in str(each.longrepr) for each in skipped)
        if count:
            terminalreporter.section(needed.name, sep="!", red=True, bold=True)
            terminalreporter.line(f"{count} {needed.tests} did NOT run.", red=True)
            _write_how(terminalreporter, needed)


def _write_how(terminalreporter: pytest.TerminalReporter, needed: Needed) -> None:
    try:
        needed.find()
    except ProgramMissing as err:
        for line in str(err).splitlines():
            terminalreporter.line(line)
