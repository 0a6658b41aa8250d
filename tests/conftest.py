"""
A browser for the tests that need one, or a loud word that they did not run.

Hypothesis profiles: ``pytest --hypothesis-profile=deep tests/property`` takes minutes.
"""

import gc
import os

import pytest
from hypothesis import settings

from tests.support.browser import BrowserMissing, find_browser
from tests.support.file_scheduling import pytest_xdist_make_scheduler


__all__ = ["pytest_xdist_make_scheduler"]

# The same examples in every run of the checks; the deep profile searches for new ones.
settings.register_profile("default", deadline=None, stateful_step_count=40, derandomize=True)
settings.register_profile("deep", deadline=None, stateful_step_count=80, max_examples=2000)
settings.load_profile("default")

NO_BROWSER = "no browser, see the end"


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
    concerned = [item for item in items if "driver" in getattr(item, "fixturenames", ())]
    if not concerned:
        return
    try:
        find_browser()
    except BrowserMissing as err:
        if os.environ.get("BROWSER_REQUIRED") == "1":
            raise pytest.UsageError(f"BROWSER_REQUIRED=1, but: {err}") from err
        for item in concerned:
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """
    Count the skipped tests from the reports, because several processes may have run the tests.
    """
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NO_BROWSER in str(each.longrepr) for each in skipped)
    if not count:
        return
    terminalreporter.section("BROWSER", sep="!", red=True, bold=True)
    terminalreporter.line(f"{count} test(s) of the status page did NOT run.", red=True)
    try:
        find_browser()
    except BrowserMissing as err:
        for line in str(err).splitlines():
            terminalreporter.line(line)
