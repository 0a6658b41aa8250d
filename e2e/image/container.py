"""
A container run by runc as a kubelet would run it: as an unprivileged user, on a read-only root.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from e2e.controlplane import until
from e2e.image.storage import Storage


SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"

Json = dict[str, Any]


class RuncContainer:
    """
    A container in the network of this machine.

    *secrets* is a folder with the token, CA certificate and namespace of its ServiceAccount.
    """

    def __init__(self, storage: Storage, image: str, folder: Path, secrets: Path) -> None:
        self._folder, self._name = folder, folder.name
        self._secrets = secrets
        self._root = storage.mount(image)
        self._config: Json = storage.inspect(image)["OCIv1"]["config"]
        self._process: subprocess.Popen[bytes] | None = None
        self.log = folder / "log"

    def start(self, *arguments: str, env: dict[str, str]) -> None:
        printed = self._runc("spec")
        assert printed == ""
        path = self._folder / "config.json"
        path.write_text(json.dumps(self._restrict(json.loads(path.read_text()), arguments, env)))
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), "run", self._name],
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    def pid(self) -> int:
        """
        Return the process id of the container's first process on this machine.
        """
        state: Json = json.loads(self._runc("state", self._name))
        return int(state["pid"])

    def stop(self, *, within: float = 15) -> int:
        """
        Send SIGTERM and return the exit code.
        """
        self._runc("kill", self._name, "TERM")
        assert self._process is not None
        return self._process.wait(timeout=within)

    def wait(self, *, within: float = 60) -> int:
        """
        Return the exit code once it has ended by itself.
        """
        assert self._process is not None
        return self._process.wait(timeout=within)

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def remove(self) -> None:
        if not self.has_ended():
            self._runc("kill", self._name, "KILL")
            until(self.has_ended, within=10, what="the container ends")

    # ------------------------------------------------------------ helpers

    def _restrict(self, spec: Json, arguments: tuple[str, ...], env: dict[str, str]) -> Json:
        user, _, group = self._config["User"].partition(":")
        spec["root"] = {"path": str(self._root), "readonly": True}
        spec["process"] |= {
            "terminal": False,
            "user": {"uid": int(user), "gid": int(group)},
            "args": [*self._config["Entrypoint"], *(arguments or self._config.get("Cmd") or ())],
            "env": [*self._config["Env"], *(f"{key}={value}" for key, value in env.items())],
            "capabilities": {},
            "noNewPrivileges": True,
        }
        mount = {"destination": SECRETS, "type": "bind", "source": str(self._secrets)}
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
