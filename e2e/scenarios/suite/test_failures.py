"""
The state that a failed run of the suite leaves behind: a healthy stack, and the reporters' status.
"""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.suite import local_cluster
from e2e.suite.announces import ROOT
from e2e.support.production_stack import components as example
from e2e.support.production_stack import restore


BBR = "clusterBBRNotReady"
AT_ITS_BEGINNING = "e2e/suite/test_written.py::test_kubectl_get_lists_it"
IN_THE_MIDDLE = (
    "e2e/suite/test_cluster_status.py::test_component_at_zero_is_announced_until_it_is_back"
)


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


@pytest.fixture
def failed(plane: ControlPlane) -> str:
    """Return the output of a run in which the reason that both tests wait for is not announced."""
    with local_cluster.reporters(plane, replicas=1, off=BBR):
        flags = (f"--quiet-seconds={local_cluster.QUIET}", "--within-seconds=5")
        given = (AT_ITS_BEGINNING, IN_THE_MIDDLE, f"--kubeconfig={plane.kubeconfig()}", *flags)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *given],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_failure_leaves_the_stack_healthy_and_shows_what_the_reporters_saw(
    plane: ControlPlane, failed: str
) -> None:
    assert f"Event {BBR} of" in failed
    assert "1 failed, 1 error" in failed
    sections = failed.split("what the reporters saw")[1:]
    assert len(sections) == 2
    assert all('"subjects": [' in each for each in sections)
    found = example.deployment(plane.client, example.BODY_BASED_ROUTER)
    assert example.is_ready(found)
    assert found["spec"]["replicas"] == example.BODY_BASED_ROUTER.replicas
