"""
Images in a folder of their own, made with buildah.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any


class Storage:
    """
    Needs no daemon, no kernel module and no registry.
    """

    def __init__(self, folder: Path) -> None:
        self._config = folder / "storage.conf"
        self._config.write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n'
        )
        policy = folder / "policy.json"
        policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CONTAINERS_STORAGE_CONF": str(self._config)}

    def take(self, archive: Path, name: str) -> None:
        """
        A root file system becomes an image.
        """
        container = self._run("from", "scratch")
        self._run("add", container, str(archive), "/")
        self._run("commit", "--rm", container, name)

    def described(self, image: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._run("inspect", "--type=image", image))
        return found

    def size(self, image: str) -> int:
        """
        Bytes.
        """
        images = json.loads(self._run("images", "--json", image))
        return _bytes(images[0]["size"])

    def mounted(self, image: str) -> Path:
        return Path(self._run("mount", self._run("from", image)))

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            ["buildah", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AssertionError(f"buildah {words[0]} failed: {done.stderr[-2000:]}")
        return done.stdout.strip()


def _bytes(text: str) -> int:
    number, unit = text.split()
    return int(float(number) * {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}[unit.upper()])
