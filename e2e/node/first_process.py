"""
The first process of the node's namespaces: it makes mounts of the node's own, and reaps orphans.

Run as a program by the interpreter alone, without the packages of the project.
"""

import os
import signal
import subprocess
from pathlib import Path


PREPARED = "prepared"
OWN_FOLDERS = ("/run", "/var/lib", "/var/log")
"""Folders in which kubelet, containerd and CNI keep files under fixed names."""

RESOLVER = "/etc/resolv.conf"
SETTINGS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
"""Settings of the whole machine, and the values of kubelet, which writes those that differ."""


def main() -> None:
    # Mounts of a volume must reach the containers, and come from nowhere else.
    _run("mount", "--make-rshared", "/")
    for folder in OWN_FOLDERS:
        _run("mount", "-t", "tmpfs", "tmpfs", folder)
    for name, value in SETTINGS.items():
        # Kubelet finds its values in a file of the node's own, and leaves the machine's as they are.
        file = Path("/run") / name.replace("/", ".")
        file.write_text(f"{value}\n")
        _run("mount", "--bind", str(file), f"/proc/sys/{name}")
    if Path(RESOLVER).is_file():
        # The machine's name servers cannot be reached from here; without any, a name fails at once.
        _run("mount", "--bind", "/dev/null", RESOLVER)
    _run("ip", "link", "set", "lo", "up")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    print(PREPARED, flush=True)
    while True:
        signal.sigwait({signal.SIGCHLD})
        _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
