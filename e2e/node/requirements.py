"""The programs of a real node that Debian has packages of, and what else this machine must have."""

import os
import shutil
import subprocess
from pathlib import Path

from e2e.image import base
from tests.support.debian import Packages, ProgramMissing


PROGRAMS = (
    "buildah",
    "containerd",
    "ctr",
    "runc",
    "iptables",
    "conntrack",
    "ip",
    "nsenter",
    "openssl",
    "unshare",
)
BOOTSTRAP = "debootstrap"
"""The program that builds the base of the image, once."""

PACKAGES = Packages(
    (
        *("buildah", "conntrack", "containerd", "containernetworking-plugins", BOOTSTRAP),
        *("iptables", "iproute2", "openssl", "runc", "util-linux"),
    ),
    "Elsewhere put these programs on the PATH, and the CNI plugins into /opt/cni/bin.",
)
PLUGINS = ("bridge", "host-local", "loopback", "portmap")
PLUGIN_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Folders of these programs, which the PATH of a user may leave out."""


def find_requirements() -> tuple[str, ...]:
    """Return the paths of the programs. Raises ProgramMissing with all that is missing."""
    if os.geteuid() != 0:
        raise ProgramMissing("A real node needs root: it makes namespaces, mounts and cgroups.")
    if not any(os.access(each, os.W_OK) for each in cgroup_hierarchies()):
        raise ProgramMissing("A real node needs Linux, and cgroups that root may write.")
    missing = [name for name in PROGRAMS if _path(name) is None]
    missing += [] if base.is_there() or _path(BOOTSTRAP) else [BOOTSTRAP]
    missing += [f"the CNI plugin {name}" for name in PLUGINS if plugin_folder(name) is None]
    if missing:
        raise ProgramMissing(f"Not installed: {', '.join(missing)}.\n{PACKAGES.how}")
    _try_namespaces()
    return tuple(program(name) for name in PROGRAMS)


def _try_namespaces() -> None:
    command = [program("unshare"), "--mount", "--net", "--pid", "--fork", "--mount-proc", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip()
        raise ProgramMissing(f"Root may not make namespaces here, as in some containers: {why}")


def program(name: str) -> str:
    """Return the path of a program. Raises ProgramMissing."""
    found = _path(name)
    if found is None:
        raise ProgramMissing(f"Not installed: {name}.\n{PACKAGES.how}")
    return found


def plugin_folder(name: str = "bridge") -> Path | None:
    return next((each for each in PLUGIN_FOLDERS if (each / name).is_file()), None)


def cgroup_hierarchies() -> list[Path]:
    """Return where cgroups are mounted: one folder, or one for each controller of version 1."""
    mounts = Path("/proc/mounts")
    lines = mounts.read_text().splitlines() if mounts.exists() else []
    parts = [line.split() for line in lines]
    return [Path(folder) for _, folder, kind, *_ in parts if kind in {"cgroup", "cgroup2"}]


def _path(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}")
