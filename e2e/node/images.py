"""The images of the node as archives, built once for each state of their sources."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from e2e.controlplane import assets, pins
from e2e.image import IMAGE, base, building
from e2e.image.storage import Storage


WORKLOAD = "registry.example/e2e/workload:1"
"""The image of the pause of each pod, and of all components."""

COREDNS = "registry.example/e2e/coredns:1"
PROGRAMS = {"workload": WORKLOAD, "coredns": COREDNS}
"""The images of one program alone, by the program."""

REGISTRY = "registry.example/team"
KEPT = 2
"""Archives of an image on a machine: those that were made last."""

_ROOT = base.DOCKERFILE.parent
_CONTAINERFILE = """\
FROM scratch
COPY program /program
ENTRYPOINT ["/program"]
"""


def reporter_name(version: str) -> str:
    """Return the name by which the chart of this version names the image, in REGISTRY."""
    return f"{REGISTRY}/productionstack-status-reporter:{version}"


def archives() -> tuple[Path, ...]:
    """Return the archives of all images. The first call builds them, in a minute."""
    return (*(_of_program(name, image) for name, image in PROGRAMS.items()), _reporter())


def _of_program(name: str, image: str) -> Path:
    program = Path(assets.program(name))

    def build(storage: Storage, folder: Path, archive: Path) -> None:
        shutil.copy2(program, folder / "program")
        (folder / "Dockerfile").write_text(_CONTAINERFILE)
        storage.build(folder, image)
        storage.export(image, archive, image)

    return _archive(name, _digest([program]), build)


def _reporter() -> Path:
    """Return the archive of our image, built from the Dockerfile."""
    files = [
        file
        for source in building.SOURCES
        for file in _files(_ROOT / source)
        if "__pycache__" not in file.parts
    ]
    if not base.is_pulled():
        files.append(base.archive())
    name = reporter_name(_version())

    def build(storage: Storage, _: Path, archive: Path) -> None:
        building.build(storage)
        storage.export(IMAGE, archive, name)

    return _archive("reporter", _digest(files), build)


def _version() -> str:
    chart = (_ROOT / "helm/productionstack-status-reporter/Chart.yaml").read_text()
    return chart.split('appVersion: "', maxsplit=1)[1].partition('"')[0]


def _archive(name: str, digest: str, build: Callable[[Storage, Path, Path], None]) -> Path:
    folder = pins.cache_folder().parents[1] / "node-images"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}-{digest}.tar"
    if not target.is_file():
        with tempfile.TemporaryDirectory() as work:
            (Path(work) / "storage").mkdir()
            unfinished = Path(work) / "archive.tar"
            build(Storage(Path(work) / "storage"), Path(work), unfinished)
            # Another process may build the same one.
            shutil.copyfile(unfinished, partial := target.with_suffix(f".{os.getpid()}"))
            partial.replace(target)
        made = sorted(folder.glob(f"{name}-*.tar"), key=lambda each: each.stat().st_mtime)
        for old in made[:-KEPT]:
            old.unlink()
    return target


def _files(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
