"""
A container run by runc as a kubelet would run it: as an unprivileged user, on a read-only root.
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from e2e.controlplane import until
from e2e.image.storage import Storage


SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"

Json = dict[str, Any]


class RuncContainer:
    """
    A container in the network of this machine.

    *folder*: for its files, with a name that no other container has. *mounts*: folders of this
    machine, by their path in the container.
    """

    def __init__(
        self, storage: Storage, image: str, folder: Path, mounts: Mapping[str, Path]
    ) -> None:
        self._folder, self._name = folder, folder.name
        self._mounts = mounts
        self._root = storage.mount(image)
        self._config: Json = storage.inspect(image)["OCIv1"]["config"]
        self._process: subprocess.Popen[bytes] | None = None
        self.log = folder / "log"

    def start(self, *arguments: str, env: Mapping[str, str], program: Sequence[str] = ()) -> None:
        """Start it with these arguments. *program*: instead of the entrypoint of the image."""
        printed = self._runc("spec")
        assert printed == ""
        command = (*(program or self._config["Entrypoint"]), *(arguments or self._defaults()))
        path = self._folder / "config.json"
        path.write_text(json.dumps(self._restrict(json.loads(path.read_text()), command, env)))
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), "run", self._name],
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    def pid(self) -> int:
        """Return the process id of the container's first process on this machine."""
        state: Json = json.loads(self._runc("state", self._name))
        return int(state["pid"])

    def stop(self, *, within: float = 30) -> int:
        """Send SIGTERM and return the exit code."""
        self._runc("kill", self._name, "TERM")
        assert self._process is not None
        return self._process.wait(timeout=within)

    def wait(self, *, within: float = 120) -> int:
        """Return the exit code once it has ended by itself."""
        assert self._process is not None
        return self._process.wait(timeout=within)

    def output(self) -> str:
        return self.log.read_text("utf-8")

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def remove(self) -> None:
        if not self.has_ended():
            # One that ends at this moment cannot be killed any more.
            with contextlib.suppress(AssertionError):
                self._runc("kill", self._name, "KILL")
            until(self.has_ended, within=60, what="the container ends")

    # ------------------------------------------------------------ helpers

    def _defaults(self) -> Sequence[str]:
        found: Sequence[str] = self._config.get("Cmd") or ()
        return found

    def _restrict(self, spec: Json, command: Sequence[str], env: Mapping[str, str]) -> Json:
        user, _, group = self._config["User"].partition(":")
        spec["root"] = {"path": str(self._root), "readonly": True}
        spec["process"] |= {
            "terminal": False,
            "user": {"uid": int(user), "gid": int(group)},
            "args": [*command],
            "env": [*self._config["Env"], *(f"{key}={value}" for key, value in env.items())],
            "capabilities": {},
            "noNewPrivileges": True,
        }
        for path, source in self._mounts.items():
            mount = {"destination": path, "type": "bind", "source": str(source)}
            spec["mounts"].append({**mount, "options": ["bind", "ro"]})
        linux = spec["linux"]
        linux.pop("resources", None)
        shared = {"network", "cgroup"}
        linux["namespaces"] = [
            namespace for namespace in linux["namespaces"] if namespace["type"] not in shared
        ]
        return spec

    def _command(self) -> list[str]:
        return ["runc", "--root", str(self._folder / "state")]

    def _runc(self, *arguments: str) -> str:
        process = subprocess.run(
            [*self._command(), *arguments],
            cwd=self._folder,
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise AssertionError(f"runc {arguments[0]} failed: {process.stderr}")
        return process.stdout
