"""
The cluster under test: the one of ``--kubeconfig``, or one that is made here.
"""

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ApiError
from e2e.suite import local_cluster
from e2e.suite.announces import MARK
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.recording import EventRecording
from e2e.support import events
from e2e.support.production_stack import restore
from e2e.support.production_stack.team import register_class


CLASS = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/istio"
REPORT_SECTION = "what the reporters saw"
QUIET_ON_GIVEN_CLUSTER = 180
"""
Seconds of silence after a recovery on a cluster made by someone else.
"""

GIVEN = pytest.StashKey[ClusterUnderTest]()
BROKEN = pytest.StashKey[ClusterUnderTest | None]()
"""
The one that is being tested just now.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cluster under test")
    group.addoption("--kubeconfig", type=Path, help="of a cluster in which a reporter runs")
    group.addoption("--yes", action="store_true", help="break that cluster without being asked")
    group.addoption(
        "--quiet-seconds",
        type=float,
        help=f"of silence after a recovery, longer than the reporters' heartbeat; default: {QUIET_ON_GIVEN_CLUSTER} there,"
        f" {local_cluster.QUIET} on a control plane that is made here",
    )
    group.addoption(
        "--heartbeat-seconds",
        type=int,
        default=local_cluster.HEARTBEAT,
        help="of the reporters on a control plane that is made here; default: %(default)s",
    )
    group.addoption(
        "--within-seconds",
        type=float,
        help="in which all that is due there is said; by default what the reporters' flags make of it",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}(*reasons): must fail when one of these reasons is not announced"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Before anything is broken it is known what that will be done to. Where no cluster is given, one
    must be made.
    """
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    path = config.getoption("kubeconfig", None)
    if path is None:
        for item in ours:
            item.add_marker(pytest.mark.controlplane)
    elif ours:
        quiet, within = (config.getoption(f"{each}_seconds") for each in ("quiet", "within"))
        config.stash[GIVEN] = _checked(
            ClusterUnderTest(path, quiet or QUIET_ON_GIVEN_CLUSTER, within)
        )
        if not (config.stash[GIVEN].is_dedicated or config.getoption("yes")):
            _ask(config.stash[GIVEN].client.host)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """
    One that failed, also before it began, comes with what the reporters saw then.
    """
    report = yield
    cluster = item.config.stash.get(BROKEN, None)
    if report.failed and cluster is not None:
        report.sections.append((REPORT_SECTION, cluster.reporters.describe()))
    return report


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[ClusterUnderTest]:
    """
    With a healthy stack and reporters.
    """
    with contextlib.ExitStack() as after:
        given = request.config.stash.get(GIVEN, None)
        found = given or after.enter_context(_made(request))
        ailing = list(found.unhealthy_components())
        if ailing:
            pytest.fail("The stack is not healthy: " + "; ".join(ailing))
        request.config.stash[BROKEN] = found
        yield found
        request.config.stash[BROKEN] = None


@pytest.fixture(scope="module")
def own_cluster(cluster: ClusterUnderTest) -> Iterator[ClusterUnderTest]:
    """
    For topics in which the tests say what KAITO and Istio would say.
    """
    if not cluster.is_dedicated:
        pytest.skip("NOT RUN: on this cluster KAITO and Istio speak for themselves")
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
    Of this module and those before it. Whatever was written must be clean.
    """
    folder = tmp_path_factory.getbasetemp() / "events"
    folder.mkdir(exist_ok=True)
    with EventRecording(cluster, folder) as running:
        yield running
        assert running.violations() == set()


@contextlib.contextmanager
def _made(request: pytest.FixtureRequest) -> Iterator[ClusterUnderTest]:
    plane = request.getfixturevalue("stack")
    heartbeat = request.config.getoption("heartbeat_seconds", local_cluster.HEARTBEAT)
    quiet = request.config.getoption("quiet_seconds", None) or local_cluster.QUIET
    with restore.healthy_stack(plane), local_cluster.reporters(plane, heartbeat=heartbeat):
        yield ClusterUnderTest(plane.kubeconfig(), quiet)
    events.clear(plane.client)


def _checked(cluster: ClusterUnderTest) -> ClusterUnderTest:
    """
    With reporters whose silence will mean something. Raises pytest.UsageError.
    """
    try:
        cluster.reporters.check()
        assert cluster.timeouts.quiet_period
    except (OSError, ApiError) as err:
        raise pytest.UsageError(f"The cluster of {cluster.kubeconfig} refuses: {err}") from err
    return cluster


def _ask(host: str) -> None:
    """
    Raises pytest.UsageError unless a person says yes.
    """
    question = f"The tests break the stack at {host} again and again. Go on? [y/N] "
    try:
        with Path("/dev/tty").open("r+b", buffering=0) as terminal:
            terminal.write(question.encode())
            answer = terminal.readline().decode().strip().lower()
    except OSError:
        answer = ""
    if answer not in {"y", "yes"}:
        raise pytest.UsageError("Nothing was broken: nobody said yes, nor was --yes given.")
