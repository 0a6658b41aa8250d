"""
One container of an image, run by runc as a kubelet would: as nobody, with nothing to write to.
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
    *secrets*: a folder with the token, CA and namespace of its ServiceAccount. Shares the network
    of this machine.
    """

    def __init__(self, storage: Storage, image: str, folder: Path, secrets: Path) -> None:
        self._folder, self._name = folder, folder.name
        self._secrets = secrets
        self._root = storage.mounted(image)
        self._config: Json = storage.described(image)["OCIv1"]["config"]
        self._process: subprocess.Popen[bytes] | None = None
        self.log = folder / "log"

    def start(self, *arguments: str, env: dict[str, str]) -> None:
        specified = self._runc("spec", output=True)
        assert specified == ""
        path = self._folder / "config.json"
        path.write_text(json.dumps(self._narrowed(json.loads(path.read_text()), arguments, env)))
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
        Of its first process, as this machine numbers it.
        """
        state: Json = json.loads(self._runc("state", self._name, output=True))
        return int(state["pid"])

    def stop(self, *, within: float = 15) -> int:
        """
        Its exit code, after a SIGTERM.
        """
        self._runc("kill", self._name, "TERM")
        assert self._process is not None
        return self._process.wait(timeout=within)

    def ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def remove(self) -> None:
        if not self.ended():
            self._runc("kill", self._name, "KILL")
            until(self.ended, within=10, what="the container has ended")

    # ------------------------------------------------------------ used above

    def _narrowed(self, spec: Json, arguments: tuple[str, ...], env: dict[str, str]) -> Json:
        user, _, group = self._config["User"].partition(":")
        spec["root"] = {"path": str(self._root), "readonly": True}
        spec["process"] |= {
            "terminal": False,
            "user": {"uid": int(user), "gid": int(group)},
            "args": [*self._config["Entrypoint"], *(arguments or self._config["Cmd"])],
            "env": [*self._config["Env"], *(f"{key}={value}" for key, value in env.items())],
            "capabilities": {},
            "noNewPrivileges": True,
        }
        given = {"destination": SECRETS, "type": "bind", "source": str(self._secrets)}
        spec["mounts"].append({**given, "options": ["bind", "ro"]})
        linux = spec["linux"]
        linux.pop("resources", None)
        shared = {"network", "cgroup"}
        linux["namespaces"] = [each for each in linux["namespaces"] if each["type"] not in shared]
        return spec

    def _command(self) -> list[str]:
        return ["runc", "--root", str(self._folder / "state")]

    def _runc(self, *words: str, output: bool = False) -> str:
        done = subprocess.run(
            [*self._command(), *words],
            cwd=self._folder,
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"runc {words[0]} failed: {done.stderr}")
        return done.stdout if output else ""
