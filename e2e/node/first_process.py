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


def main() -> None:
    # Mounts of a volume must reach the containers, and come from nowhere else.
    _run("mount", "--make-rshared", "/")
    for folder in OWN_FOLDERS:
        _run("mount", "-t", "tmpfs", "tmpfs", folder)
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
