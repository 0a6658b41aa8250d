"""
A browser for the tests that need one, or a loud word that they did not run.

Hypothesis profiles: ``pytest --hypothesis-profile=deep tests/property`` takes minutes.
"""

import gc

import pytest
from hypothesis import settings

from tests.support.browser import BrowserMissing, find_browser
from tests.support.file_scheduling import pytest_xdist_make_scheduler
from tests.support.needed_programs import NeededProgram


__all__ = ["pytest_xdist_make_scheduler"]

# The same examples in every run of the checks; the deep profile searches for new ones.
settings.register_profile("default", deadline=None, stateful_step_count=40, derandomize=True)
settings.register_profile("deep", deadline=None, stateful_step_count=80, max_examples=2000)
settings.load_profile("default")

BROWSER = NeededProgram(
    title="BROWSER",
    tests="of the status page",
    why_skipped="no browser, see the end",
    find=find_browser,
    missing=BrowserMissing,
    required_variable="BROWSER_REQUIRED",
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
    Skip the tests that need a browser if there is none. No other place decides that.
    """
    BROWSER.skip_without([each for each in items if "driver" in getattr(each, "fixturenames", ())])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    BROWSER.report_skipped(terminalreporter)
