"""Fixtures and options of the suite: the cluster of ``--kubeconfig``, or a local control plane."""

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ApiError
from e2e.suite import local_cluster
from e2e.suite.announces import MARK, reasons_without_test
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.recording import EventRecording
from e2e.support import events
from e2e.support.production_stack import restore
from e2e.support.production_stack.team import register_class


CLASS = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/istio"
REPORT_SECTION = "what the reporters saw"
QUIET_ON_GIVEN_CLUSTER = 180
"""Seconds without an Event that tests wait for after a recovery on the cluster of --kubeconfig."""

GIVEN = pytest.StashKey[ClusterUnderTest]()
CURRENT = pytest.StashKey[ClusterUnderTest | None]()
"""The cluster of the running test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cluster under test")
    group.addoption(
        "--kubeconfig", type=Path, help="kubeconfig of a cluster in which a reporter runs"
    )
    group.addoption("--yes", action="store_true", help="break that cluster without asking")
    group.addoption(
        "--quiet-seconds",
        type=float,
        help=f"seconds without an Event after a recovery, longer than the reporters' heartbeat; default:"
        f" {QUIET_ON_GIVEN_CLUSTER}, or {local_cluster.QUIET} on a local control plane",
    )
    group.addoption(
        "--heartbeat-seconds",
        type=int,
        default=local_cluster.HEARTBEAT,
        help="heartbeat of the reporters on a local control plane; default: %(default)s",
    )
    group.addoption(
        "--within-seconds",
        type=float,
        help="seconds to wait for an Event; default: derived from the reporters' flags",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}(*reasons): must fail when one of these reasons is not announced"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Check the given cluster before any test breaks it. Without one, tests need a control plane.
    """
    suite_items = [item for item in items if Path(__file__).parent in item.path.parents]
    path = config.getoption("kubeconfig", None)
    if path is None:
        for item in suite_items:
            item.add_marker(pytest.mark.controlplane)
    elif suite_items:
        quiet, within = (config.getoption(f"{name}_seconds") for name in ("quiet", "within"))
        config.stash[GIVEN] = _check(
            ClusterUnderTest(path, quiet or QUIET_ON_GIVEN_CLUSTER, within)
        )
        if not (config.stash[GIVEN].is_dedicated or config.getoption("yes")):
            _confirm(config.stash[GIVEN].client.host)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the status of the reporters to the report of a test that failed."""
    report = yield
    cluster = item.config.stash.get(CURRENT, None)
    if report.failed and cluster is not None:
        report.sections.append((REPORT_SECTION, cluster.reporters.describe()))
    return report


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[ClusterUnderTest]:
    """A cluster with a healthy stack and running reporters."""
    with contextlib.ExitStack() as stack:
        given = request.config.stash.get(GIVEN, None)
        cluster = given or stack.enter_context(_made(request))
        unhealthy = list(cluster.unhealthy_components())
        if unhealthy:
            pytest.fail("The stack is not healthy: " + "; ".join(unhealthy))
        request.config.stash[CURRENT] = cluster
        yield cluster
        request.config.stash[CURRENT] = None


@pytest.fixture(scope="module")
def own_cluster(cluster: ClusterUnderTest) -> Iterator[ClusterUnderTest]:
    """A cluster in which tests write the status that KAITO and Istio would write."""
    if not cluster.is_dedicated:
        pytest.skip("NOT RUN: on this cluster KAITO and Istio write status themselves")
    if cluster.client.exists(CLASS):
        yield cluster
    else:
        register_class(cluster.client)
        yield cluster
        cluster.client.delete(CLASS)


@pytest.fixture(scope="module", autouse=True)
def recording(
    cluster: ClusterUnderTest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EventRecording]:
    """
    The Events written during this module and those before it; each must be well formed, and of a
    reason that a test causes unless the cluster has troubles of its own.
    """
    folder = tmp_path_factory.getbasetemp() / "events"
    folder.mkdir(exist_ok=True)
    with EventRecording(cluster, folder) as running:
        yield running
        assert running.violations() == set()
        if cluster.has_no_kubelets:
            assert running.reasons() & reasons_without_test() == set()


@contextlib.contextmanager
def _made(request: pytest.FixtureRequest) -> Iterator[ClusterUnderTest]:
    plane = request.getfixturevalue("stack")
    heartbeat = request.config.getoption("heartbeat_seconds", local_cluster.HEARTBEAT)
    quiet = request.config.getoption("quiet_seconds", None) or local_cluster.QUIET
    with restore.healthy_stack(plane), local_cluster.reporters(plane, heartbeat=heartbeat):
        yield ClusterUnderTest(plane.kubeconfig(), quiet)
    events.clear(plane.client)


def _check(cluster: ClusterUnderTest) -> ClusterUnderTest:
    """
    Return the cluster if its reporters are Ready and its quiet period is long enough.

    Raise pytest.UsageError otherwise.
    """
    try:
        cluster.reporters.check()
        assert cluster.timeouts.quiet_period
    except (OSError, ApiError) as err:
        raise pytest.UsageError(
            f"The cluster of {cluster.kubeconfig} cannot be used: {err}"
        ) from err
    return cluster


def _confirm(host: str) -> None:
    """Ask on the terminal. Raise pytest.UsageError unless the answer is yes."""
    question = f"The tests break the stack at {host} many times. Continue? [y/N] "
    try:
        with Path("/dev/tty").open("r+b", buffering=0) as terminal:
            terminal.write(question.encode())
            answer = terminal.readline().decode().strip().lower()
    except OSError:
        answer = ""
    if answer not in {"y", "yes"}:
        raise pytest.UsageError(
            "Nothing was broken: the answer was not yes, and --yes was not given."
        )
