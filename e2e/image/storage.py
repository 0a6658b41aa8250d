"""A folder of images that buildah makes."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A file, folder or link of an image. *content*: a hash, or where a link leads to."""

    path: str
    mode: int
    owner: tuple[int, int]
    time: int
    content: str
    is_file: bool

    @property
    def parts(self) -> tuple[str, ...]:
        return Path(self.path).parts


class Storage:
    """An image store of its own; it needs no daemon, kernel module or registry."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._roots: dict[str, Path] = {}
        self._config = folder / "storage.conf"
        self._config.write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n'
        )
        policy = folder / "policy.json"
        policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CONTAINERS_STORAGE_CONF": str(self._config)}

    def environment_for(self, host: str) -> dict[str, str]:
        """Return an environment in which this registry is spoken to without TLS."""
        config = self._folder / "registries.conf"
        config.write_text(f'[[registry]]\nlocation = "{host}"\ninsecure = true\n')
        return {**self.environment, "CONTAINERS_REGISTRIES_CONF": str(config)}

    def import_archive(self, archive: Path, name: str) -> None:
        """Import a root file system as an image."""
        container = self._run("from", "scratch")
        self._run("add", container, str(archive), "/")
        self._run("commit", "--rm", container, name)

    def pull(self, reference: str, name: str) -> None:
        """Pull an image from its registry and give it another name as well."""
        self._run("pull", reference)
        self.tag(reference, name)

    def build(self, folder: Path, name: str) -> None:
        """Build the Dockerfile of a folder."""
        self._run("build", "--isolation=chroot", "--tag", name, str(folder))

    def export(self, image: str, archive: Path, name: str) -> None:
        """Write an image as an archive that containerd imports, under another name."""
        archive.unlink(missing_ok=True)  # an existing one cannot be changed
        self._run("push", image, f"docker-archive:{archive}:{name}")

    def tag(self, image: str, name: str) -> None:
        self._run("tag", image, name)

    def inspect(self, image: str) -> dict[str, Any]:
        description: dict[str, Any] = json.loads(self._run("inspect", "--type=image", image))
        return description

    def size(self, image: str) -> int:
        """Return the size of an image in bytes."""
        images = json.loads(self._run("images", "--json", image))
        return _parse_size(images[0]["size"])

    def digest(self, image: str) -> str:
        """Return the digest of an image, which names all of its content."""
        return str(self.inspect(image)["FromImageDigest"])

    def contents(self, image: str) -> list[Entry]:
        """Return what an image has, before any runtime adds to it."""
        folder = self._folder / "contents"
        self._run("push", image, f"dir:{folder}")
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        found: list[Entry] = []
        for layer in manifest["layers"]:
            with tarfile.open(folder / layer["digest"].partition(":")[2]) as content:
                found += [_entry(content, each) for each in content]
        shutil.rmtree(folder)
        return found

    def mount(self, image: str) -> Path:
        """
        Return the root of an image. All containers share it, as none of them can write to it.
        """
        if image not in self._roots:
            self._roots[image] = Path(self._run("mount", self._run("from", image)))
        return self._roots[image]

    def _run(self, *arguments: str) -> str:
        process = subprocess.run(
            ["buildah", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise AssertionError(f"buildah {arguments[0]} failed: {process.stderr[-2000:]}")
        return process.stdout.strip()


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Entry:
    file = archive.extractfile(member) if member.isfile() else None
    content = hashlib.sha256(file.read()).hexdigest() if file else member.linkname
    path = f"/{member.name.removeprefix('./').strip('/')}"
    owner = (member.uid, member.gid)
    return Entry(path, member.mode, owner, int(member.mtime), content, member.isfile())


def _parse_size(text: str) -> int:
    number, unit = text.split()
    return int(float(number) * {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}[unit.upper()])
