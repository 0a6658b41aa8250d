"""The stack, started once for a module, or a loud word that its controllers are not built."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from e2e.controllers import programs, scenarios
from e2e.controllers.stack import ControllerStack
from e2e.support.observer import NO_PAGES, short_hold_flags
from e2e.support.production_stack import team
from e2e.support.reporter_process import ReporterProcess
from tests.support.needed_programs import NeededProgram


def _needed(
    title: str, find: Callable[[], None], required: str = "CONTROLLERS_REQUIRED"
) -> NeededProgram:
    return NeededProgram(
        title=f"REAL {title}",
        tests=f"with {title} as it is released",
        why_skipped=f"no {title}, see the end",
        find=find,
        missing=programs.ControllersMissing,
        required_variable=required,
    )


NEEDED = {
    "controllers": _needed("KAITO", partial(programs.find, programs.KAITO, programs.KARPENTER)),
    "keda": _needed("KEDA", partial(programs.find, programs.KEDA, programs.KEDA_METRICS)),
    "needs_picker": _needed("ENDPOINT PICKER", partial(programs.find, programs.PICKER)),
    "istiod": _needed("ISTIOD", programs.find_istiod, "ISTIOD_REQUIRED"),
}
"""The programs that are needed, by the fixture that starts them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "write the recorded stories of tests/cases anew, and print how they differ"
    parser.addoption("--record", action="store_true", help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for fixture, needed in NEEDED.items():
        needed.skip_without(
            [item for item in items if fixture in getattr(item, "fixturenames", ())]
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for needed in NEEDED.values():
        needed.report_skipped(terminalreporter)


@pytest.fixture
def needs_picker() -> None:
    """The mark of a test that runs the endpoint picker."""


@pytest.fixture(scope="module")
def controllers() -> Iterator[ControllerStack]:
    """The stack without any model."""
    with ControllerStack.running() as stack:
        team.register_class(stack.plane.client)
        yield stack


@pytest.fixture(scope="module")
def reporter(controllers: ControllerStack) -> Iterator[ReporterProcess]:
    """A reporter with short holds, which reads what Karpenter says."""
    flags = (*short_hold_flags(controllers.plane), NO_PAGES, "--sources=karpenter,keda")
    with ReporterProcess(controllers.plane, *flags) as started:
        yield started


@pytest.fixture
def clouds(controllers: ControllerStack) -> Iterator[None]:
    """The clouds, restored afterwards."""
    yield
    scenarios.restore_clouds(controllers.plane.client)


@pytest.fixture
def record(request: pytest.FixtureRequest) -> bool:
    """True if the recorded stories are written anew."""
    return bool(request.config.getoption("--record", default=False))
