"""
Run the suite against a local control plane as against a foreign cluster, with only a kubeconfig.

Arguments of ``python -m e2e.suite`` are passed on to pytest.
"""

import subprocess
import sys

from e2e.controlplane import ControlPlane, Options
from e2e.suite import local_cluster
from e2e.support.production_stack import components


def main() -> int:
    with ControlPlane(Options(unread_crds=True)) as plane:
        components.install(plane.client)
        with local_cluster.reporters(plane):
            arguments = (
                f"--kubeconfig={plane.kubeconfig()}",
                f"--quiet-seconds={local_cluster.QUIET}",
            )
            command = [sys.executable, "-m", "pytest", "e2e/suite", *arguments, *sys.argv[1:]]
            return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
