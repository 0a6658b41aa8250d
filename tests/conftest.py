"""
Programs for the tests that need one, or a loud word that they did not run.

Hypothesis profiles: ``pytest --hypothesis-profile=deep tests/property`` takes minutes, ``make quick``
has those of the profile quick.
"""

import gc

import pytest
from hypothesis import HealthCheck, settings

from tests.support.browser import find_browser
from tests.support.debian import ProgramMissing
from tests.support.file_scheduling import pytest_xdist_make_scheduler, rank_of
from tests.support.lua import find_lua
from tests.support.needed_programs import NeededProgram
from tests.support.shells import find_shells


__all__ = ["pytest_xdist_make_scheduler"]

# Nothing here depends on how fast the machine is.
any_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run of the checks; the deep profile searches for new ones.
settings.register_profile("default", any_machine, stateful_step_count=40, derandomize=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=25)
settings.register_profile("deep", any_machine, stateful_step_count=80, max_examples=2000)
settings.load_profile("default")

BROWSER = NeededProgram(
    title="BROWSER",
    tests="of the status page",
    why_skipped="no browser, see the end",
    find=find_browser,
    missing=ProgramMissing,
    required_variable="BROWSER_REQUIRED",
)
LUA = NeededProgram(
    title="LUA",
    tests="of the health check for Argo CD",
    why_skipped="no Lua, see the end",
    find=find_lua,
    missing=ProgramMissing,
    required_variable="LUA_REQUIRED",
)
SHELLS = NeededProgram(
    title="SHELLS",
    tests="of the completion of zsh and fish",
    why_skipped="no zsh or no fish, see the end",
    find=find_shells,
    missing=ProgramMissing,
    required_variable="SHELLS_REQUIRED",
)
NEEDED = {"driver": BROWSER, "lua": LUA, "shells": SHELLS}
"""By the fixture of which a test is known to need it."""


def pytest_collection_finish() -> None:
    """
    Exempt the collected tests and imported modules, which stay until the end, from the collector.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the cases first, and skip the tests that need a program if there is none."""
    items.sort(key=lambda item: rank_of(item.nodeid))
    for fixture, needed in NEEDED.items():
        needed.skip_without([i for i in items if fixture in getattr(i, "fixturenames", ())])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for needed in NEEDED.values():
        needed.report_skipped(terminalreporter)
