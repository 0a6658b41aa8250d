"""A description of the machine and the software of a measurement."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from e2e.controlplane import ControlPlane, pins


_LIBRARIES = ("productionstack-status-reporter", "aiohttp", "msgspec")


def lines(plane: ControlPlane | None = None) -> Iterator[str]:
    """Yield the lines of the description, with the servers of *plane* if given."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    yield f"machine   {_processor()}, {os.cpu_count()} CPUs, {memory:.0f} GiB, load {load:.1f}"
    python = f"Python {platform.python_version()}, {os.environ.get('PYTHONMALLOC', 'pymalloc')}"
    yield f"system    {platform.system()} {platform.release()}, {python}"
    if plane is not None:
        server = plane.client.get("/version")["gitVersion"]
        etcd = pins.version("etcd", "go.etcd.io/etcd/server/v3")
        yield f"server    kube-apiserver {server}, etcd {etcd} without fsync, this machine"
    yield f"reporter  {libraries}"


def _processor() -> str:
    """Return the CPU model on Linux, the architecture elsewhere."""
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2] for line in cpuinfo.splitlines() if "model name" in line)
    return next(names, platform.machine()).strip()
