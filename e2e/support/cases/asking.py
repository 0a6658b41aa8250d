"""The commands that ask for the status, on a real API server."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from e2e.controlplane import ControlPlane
from tests.support.command_line import run_command_line


WITHOUT_GRACE = "--startup-grace-seconds=0"
"""The objects of the stack may have been made a moment ago."""


def ask(plane: ControlPlane, *argv: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    config = str(plane.kubeconfig())
    return run_command_line(*argv, stdin=stdin.encode(), KUBECONFIG=config)


def shown_states(lines: Iterable[str], *names: str) -> Iterator[str]:
    """Yield the states of the lines about a subject; other tests may have left more namespaces."""
    size = len(names)
    yield from (line.split()[size] for line in lines if line.split()[:size] == [*names])


@contextmanager
def reading_user(plane: ControlPlane, user: str) -> Iterator[None]:
    """Let a user read the namespace team-m, and nothing else."""
    here = "--namespace=team-m"
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": user, "namespace": "team-m"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}],
    }
    plane.client.create(plane.client.collection(role), role)
    plane.kubectl("create", "rolebinding", user, here, f"--role={user}", f"--user={user}")
    try:
        yield
    finally:
        plane.kubectl("delete", "rolebinding,role", user, here)
