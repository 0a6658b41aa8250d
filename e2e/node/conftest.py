"""A cluster with a real node, the stack on it, and the chart installed with its default values."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import assets, golang
from e2e.node import images, requirements
from e2e.node.release import Release, installed
from tests.support.debian import ProgramMissing
from tests.support.needed_programs import NeededProgram


def _find() -> None:
    """Raise ProgramMissing with what is not installed, or not built and cannot be."""
    requirements.find_requirements()
    lacking = assets.lacking([*(each.name for each in assets.NODE), *images.PROGRAMS])
    if lacking and golang.go() is None:
        raise ProgramMissing(
            f"Not built: {', '.join(lacking)}.\nInstall Go and run `make e2e-node`, which builds them."
        )


REAL_NODE = NeededProgram(
    title="REAL NODE",
    tests="on a real node",
    why_skipped="no real node can run here, see the end",
    find=_find,
    missing=ProgramMissing,
    required_variable="NODE_REQUIRED",
)


NOT_CHECKED = (
    "Not checked on a real node: NetworkPolicies, which the CNI plugin bridge does not enforce, and"
    " traffic between pods of two nodes."
)
LONGEST = ("test_crashes", "test_access_tokens", "test_two_nodes")
"""The files that take ten minutes each: processes side by side begin with them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let these tests run only where they are asked for: they take long, and root."""
    concerned = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in concerned:
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.controlplane)
    REAL_NODE.skip_without(concerned)
    items.sort(key=lambda item: item not in concerned or item.path.stem not in LONGEST)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    REAL_NODE.report_skipped(terminalreporter)
    passed = terminalreporter.stats.get("passed", [])
    if any(each.nodeid.startswith("e2e/node/") for each in passed):
        terminalreporter.line(NOT_CHECKED)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """The chart with its default values; what it installed is gone after its removal."""
    with installed(tmp_path_factory.mktemp("helm")) as release:
        yield release
        release.uninstall()


@pytest.fixture
def quiet(release: Release) -> Iterator[Release]:
    """The release while nothing is announced: each test ends its own troubles."""
    release.until_quiet()
    yield release
    release.print_logs()
