"""
The suite as on a cluster made by someone else: reporters run there, and a kubeconfig is all it gets.

``python -m e2e.suite`` does that with a control plane made here; pytest's arguments may follow.
"""

import subprocess
import sys

from e2e.controlplane import ControlPlane
from e2e.suite import local_cluster
from e2e.support.production_stack import components


def main() -> int:
    with ControlPlane() as plane:
        components.install(plane.client)
        with local_cluster.reporters(plane):
            given = (
                f"--kubeconfig={plane.kubeconfig()}",
                f"--quiet-seconds={local_cluster.QUIET}",
            )
            command = [sys.executable, "-m", "pytest", "e2e/suite", *given, *sys.argv[1:]]
            return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
