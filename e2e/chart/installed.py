"""
Compare a release with the objects on the control plane.
"""

import subprocess

from e2e.controlplane import ControlPlane


NAMESPACE = "kaito-stack"


def difference(plane: ControlPlane, manifest: str) -> str:
    """
    Return what `kubectl diff` prints.
    """
    return answer(plane, "diff", manifest)


def answer(plane: ControlPlane, command: str, manifest: str, *flags: str) -> str:
    """
    Return the output of kubectl, also if it fails.
    """
    try:
        return plane.kubectl(command, *flags, "-f", "-", stdin=manifest)
    except subprocess.CalledProcessError as err:
        return str(err.stdout) + str(err.stderr)
