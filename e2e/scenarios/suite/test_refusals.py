"""Checks that the suite makes before it breaks a cluster that it was given."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane
from e2e.suite import local_cluster
from e2e.suite.cluster import DEDICATED_LABEL
from e2e.support.production_stack import restore


ROOT = Path(__file__).parents[3]
SYSTEM = "/api/v1/namespaces/kube-system"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


def refusal(plane: ControlPlane, *flags: str) -> str:
    """Return the output of a run that must refuse, without a terminal, as a service has none."""
    given = ("e2e/suite/test_cluster_status.py", f"--kubeconfig={plane.kubeconfig()}", *flags)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    return done.stderr


@pytest.mark.slow
def test_error_without_a_reporter_names_how_to_install_one(plane: ControlPlane) -> None:
    assert "helm install" in refusal(plane)


def test_it_breaks_no_foreign_cluster_without_a_yes(plane: ControlPlane) -> None:
    with local_cluster.reporters(plane, replicas=1):
        plane.client.patch(SYSTEM, {"metadata": {"labels": {DEDICATED_LABEL: None}}})
        assert "Nothing was broken" in refusal(plane)
        assert "--heartbeat-seconds=60" in refusal(plane, "--quiet-seconds=5")
