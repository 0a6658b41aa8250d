"""
A release as it is on the control plane.
"""

import subprocess

from e2e.controlplane import ControlPlane


NAMESPACE = "kaito-stack"


def difference(plane: ControlPlane, manifest: str) -> str:
    """
    Between what was asked for and what is there, as users compare it.
    """
    return answer(plane, "diff", manifest)


def answer(plane: ControlPlane, command: str, manifest: str, *flags: str) -> str:
    """
    What kubectl says of it, be it a refusal.
    """
    try:
        return plane.kubectl(command, *flags, "-f", "-", stdin=manifest)
    except subprocess.CalledProcessError as err:
        return str(err.stdout) + str(err.stderr)
