"""
The namespaces of the node: processes, mounts and network of its own.

All that it leaves behind ends with their first process, in whatever way that ends: containers and their shims
are its descendants, and no other process sees its mounts, interfaces and iptables rules. Only cgroups have
names on the machine.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from e2e.controlplane import ControlPlane, leftovers, until
from e2e.controlplane.processes import Process
from e2e.node import first_process, requirements
from e2e.node.place import Place


REMOVED_WITHIN = 30
"""Seconds within which killed processes have left their cgroups."""


class CommandFailed(Exception):
    """A command on the machine or the node that failed, with its error."""


class Namespaces:
    def __init__(self, plane: ControlPlane, place: Place) -> None:
        """Make the namespaces and connect them. They end with the control plane."""
        self._plane = plane
        command = [
            *(requirements.program("unshare"), "--mount", "--net", "--pid", "--mount-proc"),
            *("--fork", "--kill-child", sys.executable, "-I", first_process.__file__),
        ]
        self._unshare = plane.run(f"{place.name}-first", command)
        self._first = until(self._child, within=60, what="the first process of the node runs")
        until(self._is_prepared, within=60, what="the node's mounts are made")
        self._connect(place)

    def kill(self) -> None:
        """Kill all processes in the namespaces."""
        self._unshare.kill()

    def start(self, name: str, command: list[str]) -> Process:
        """Start a process in the namespaces; its log is in the folder of the control plane."""
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:{requirements.SYSTEM_FOLDERS}"}
        return self._plane.run(name, [*self._enter(), *command], environment)

    def run(self, *command: str) -> str:
        """Run a command in the namespaces and return its output."""
        return _run(*self._enter(), *command)

    def _enter(self) -> list[str]:
        target = f"--target={self._first}"
        return [requirements.program("nsenter"), target, "--mount", "--net", "--pid", "--"]

    def _child(self) -> int:
        pid = self._unshare.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else 0

    def _is_prepared(self) -> bool:
        return first_process.PREPARED in self._unshare.log.read_text()

    def _connect(self, place: Place) -> None:
        with contextlib.suppress(CommandFailed):
            _run(
                "ip", "link", "delete", place.link
            )  # of a node whose last processes are just ending
        peer = ("type", "veth", "peer", "name", "eth0", "netns", str(self._first))
        _run("ip", "link", "add", place.link, *peer)
        _run("ip", "address", "add", f"{place.machine_address}/30", "dev", place.link)
        _run("ip", "link", "set", place.link, "up")
        self.run("ip", "address", "add", f"{place.address}/30", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "route", "add", "default", "via", place.machine_address)
        _run("ip", "route", "add", place.pods, "via", place.address)


def _run(*command: str) -> str:
    path = requirements.program(command[0])
    done = subprocess.run([path, *command[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandFailed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


# ---------------------------------------------------------------- cgroups


def cgroup_name(folder: Path, node: str) -> str:
    """Return the name of the cgroup of a node of the cluster in this folder."""
    return f"{folder.name}.{node}"


def make_cgroup(name: str) -> None:
    """Make the cgroup of all pods, in each hierarchy."""
    for hierarchy in requirements.cgroup_hierarchies():
        _enable_controllers(hierarchy)
        (hierarchy / name).mkdir(exist_ok=True)


def _enable_controllers(hierarchy: Path) -> None:
    """Let cgroups of version 2 have all controllers; kubelet takes no root that lacks one."""
    controllers = hierarchy / "cgroup.controllers"
    for each in controllers.read_text().split() if controllers.exists() else ():
        (hierarchy / "cgroup.subtree_control").write_text(f"+{each}")


def remove_cgroup(name: str) -> None:
    """Remove a cgroup and all below it. Its processes have been killed."""
    for hierarchy in requirements.cgroup_hierarchies():
        root = hierarchy / name
        until(partial(_is_removed, root), within=REMOVED_WITHIN, what=f"{root} is removed")


def sweep_cgroups() -> None:
    """Remove the cgroups of nodes whose folder is gone: their tests were killed."""
    for hierarchy in requirements.cgroup_hierarchies():
        for cgroup in hierarchy.glob(f"{leftovers.PREFIX}*"):
            folder = cgroup.name.partition(".")[0]
            if not (Path(tempfile.gettempdir()) / folder).exists():
                remove_cgroup(cgroup.name)


def _is_removed(root: Path) -> bool:
    below = sorted((each for each in root.rglob("*") if each.is_dir()), reverse=True)
    for cgroup in (*below, root):
        with contextlib.suppress(OSError):  # a process in it is still ending
            cgroup.rmdir()
    return not root.exists()
