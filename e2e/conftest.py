"""A control plane for the tests that need one, or a loud word that they did not run."""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from e2e.controlplane import ControlPlane, Options, assets
from e2e.hub.parts import victoria_metrics
from e2e.support import loaded_program
from e2e.support.production_stack import components as example
from e2e.support.production_stack import workload
from e2e.support.production_stack.components import namespace_manifest
from e2e.support.shared_plane import SharedPlane
from tests.support.file_scheduling import pytest_xdist_make_scheduler
from tests.support.needed_programs import NeededProgram


__all__ = ["pytest_xdist_make_scheduler"]

FIXTURES = {"control_plane", "new_control_plane", "own_control_plane", "small_plane"}
CONTROL_PLANE = NeededProgram(
    title="REAL CONTROL PLANE",
    tests="on the real control plane",
    why_skipped="no real control plane, see the end",
    find=assets.find,
    missing=assets.AssetsMissing,
    required_variable="CONTROLPLANE_REQUIRED",
)


SECOND_ENGINE = NeededProgram(
    title="SECOND ENGINE",
    tests="of the hub with VictoriaMetrics",
    why_skipped="no VictoriaMetrics, see the end",
    find=victoria_metrics.find,
    missing=victoria_metrics.VictoriaMetricsMissing,
    required_variable="SECOND_ENGINE_REQUIRED",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that need a program if there is none. No other place decides that."""
    CONTROL_PLANE.skip_without([item for item in items if _needs_control_plane(item)])
    SECOND_ENGINE.skip_without(
        [item for item in items if item.get_closest_marker("second_engine")]
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    CONTROL_PLANE.report_skipped(terminalreporter)
    SECOND_ENGINE.report_skipped(terminalreporter)


def _needs_control_plane(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("controlplane") is not None
    return marked or bool(FIXTURES & set(getattr(item, "fixturenames", ())))


@pytest.fixture(scope="session", autouse=True)
def _loaded_program() -> Iterator[None]:
    with loaded_program.in_use():
        yield


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """
    A control plane shared by all tests. A test uses its own namespaces, or undoes its changes.
    """
    with ControlPlane() as plane:
        yield plane


@pytest.fixture(scope="session")
def small_plane() -> Iterator[SharedPlane]:
    """
    A control plane without controllers, which would repair or delete the objects of a test. It is
    lent to one module or folder after another. Its audit log has the requests of one of them.
    """
    plane = SharedPlane(replace(workload.MINIMAL_OPTIONS, audit=True))
    yield plane
    plane.end()


@pytest.fixture
def new_control_plane() -> Iterator[Callable[[Options], ControlPlane]]:
    """Start control planes for this test alone."""
    with contextlib.ExitStack() as started:

        def start(options: Options) -> ControlPlane:
            return started.enter_context(ControlPlane(options))

        yield start


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace for this test alone."""
    name = f"e2e-{secrets.token_hex(4)}"
    control_plane.client.create("/api/v1/namespaces", namespace_manifest(name))
    yield name
    control_plane.client.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def stack(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane with the example stack on it, healthy."""
    example.install(control_plane.client)
    return control_plane
