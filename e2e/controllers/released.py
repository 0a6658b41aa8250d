"""
Controllers that no module of the Go module proxy has: the programs in the images of their releases.

One on the PATH that states the version is taken as it is. Otherwise it is taken out of its image, once.
"""

import contextlib
import platform
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from e2e.controlplane import assets, pins


@dataclass(frozen=True)
class Released:
    """
    *program*: its path in the *image*. *asked*: arguments with which it prints its version.
    """

    name: str
    version: str
    image: str
    program: str
    asked: tuple[str, ...]

    @property
    def file(self) -> str:
        return Path(self.program).name


_ISTIO = pins.version("crds", "istio.io/api").removeprefix("v")
ISTIOD = Released(
    *("istiod", f"v{_ISTIO}", f"istio/pilot:{_ISTIO}"),
    *("usr/local/bin/pilot-discovery", ("version", "--short")),
)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PULLED_WITHIN = 300


class ReleaseMissing(Exception):
    """A released program that is neither here nor to be had; the text says why."""


def find(released: Released) -> Path | None:
    """Return where the program is, if it is on the PATH or was taken before."""
    installed = shutil.which(released.file)
    if installed and _states_version(Path(installed), released):
        return Path(installed)
    kept = _kept(released)
    return kept if kept.is_file() else None


def find_or_take(released: Released) -> Path:
    """Return where the program is, taken out of its image if it is not here. Raises ReleaseMissing."""
    found = find(released)
    if found is None:
        found = _kept(released)
        _take(released, found)
    return found


def _kept(released: Released) -> Path:
    folder = pins.cache_folder().parents[1] / "tools"
    return folder / f"{released.name}-{released.version}" / released.file


def _states_version(program: Path, released: Released) -> bool:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        words = [str(program), *released.asked]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        return released.version.removeprefix("v") in done.stdout
    return False


def _take(released: Released, target: Path) -> None:
    """Write the program of an image to a temporary name and rename it."""
    tools = target.parents[1]
    tools.mkdir(parents=True, exist_ok=True)
    architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
    with tempfile.TemporaryDirectory(dir=tools) as folder:
        whole = Path(folder) / "image.tar"
        words = ["export", f"--platform=linux/{architecture}", released.image, str(whole)]
        command = [assets.program("crane"), *words]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PULLED_WITHIN
            )
        except subprocess.TimeoutExpired as err:
            why = f"not pulled within {PULLED_WITHIN} s"
            raise ReleaseMissing(f"{released.image}: {why}") from err
        if done.returncode:
            raise ReleaseMissing(f"{released.image}: {_last_line(done.stderr)}")
        try:
            with tarfile.open(whole) as archive:
                archive.extract(released.program, folder, filter="data")
        except KeyError as err:
            raise ReleaseMissing(f"{released.image} has no {released.program}") from err
        target.parent.mkdir(exist_ok=True)
        (Path(folder) / released.program).replace(target)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
