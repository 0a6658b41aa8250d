"""A node whose tests are killed leaves nothing on the machine."""

import os
import subprocess
import sys
from pathlib import Path

from e2e.controlplane import until
from e2e.node import namespaces


PROGRAM = """\
import signal
from e2e.node import NodeCluster
with NodeCluster() as cluster:
    print(cluster.folder, cluster.node.place.link, flush=True)
    signal.pause()
"""
ENDED_WITHIN = 60
INTERFACES = Path("/sys/class/net")


def test_killed_owner_leaves_no_process_mount_interface_or_cgroup() -> None:
    owner = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner:
        try:
            folder, link = map(Path, owner.stdout.readline().split())
            assert folder.is_dir()
            assert _processes(folder) != []
            assert owner.poll() is None
        finally:
            owner.kill()
    until(lambda: not folder.exists(), within=ENDED_WITHIN, what="the folder is removed")
    until(lambda: not _processes(folder), within=ENDED_WITHIN, what="its processes have ended")
    until(
        lambda: not (INTERFACES / link).exists(), within=ENDED_WITHIN, what="its interface is gone"
    )
    assert str(folder) not in Path("/proc/mounts").read_text()
    namespaces.sweep_cgroups()
    assert [*Path("/sys/fs/cgroup").glob(f"**/{folder.name}*")] == []


def _processes(folder: Path) -> list[str]:
    """Return the command lines that name the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        if str(folder) in command and int(process.name) != os.getpid():
            found.append(command)
    return found
