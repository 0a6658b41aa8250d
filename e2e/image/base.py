"""
The base of the image: that of the Dockerfile from its registry, or Debian's Python, built with debootstrap.

The latter needs no registry. It has the same release of Debian and of Python, and leaves out what slim
images leave out, so the sizes of both are near each other.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path


DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"
VARIABLE = "IMAGE_BASE"
"""
With `dockerfile` the base is pulled as the Dockerfile names it; without a value it is built here.
"""

SUITE = "trixie"
PACKAGES = "python3,python3-pip,ca-certificates"
CA_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""The CA certificates of this machine, which pip needs behind a proxy that terminates TLS."""

LEFT_OUT = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"),
    *("var/cache/apt", "var/lib/apt/lists", "var/log"),
)
"""Folders that are empty in slim images; see .slimify-excludes of Debian's debuerreotype."""


def pinned() -> str:
    """Return the base that the Dockerfile names, with its digest."""
    (found,) = re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    return str(found)


def is_pulled() -> bool:
    return os.environ.get(VARIABLE) == "dockerfile"


def is_there() -> bool:
    """Return whether no base has to be built here."""
    return is_pulled() or _archive_path().is_file()


def _archive_path() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "productionstack-status-reporter" / f"base-slim-{SUITE}.tar"


def archive() -> Path:
    """
    Return the archive of the base image. The first call builds it, which takes a minute or two.

    Raise CalledProcessError if the build fails.
    """
    archive_path = _archive_path()
    if not archive_path.is_file():
        archive_path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            _build(Path(folder) / "root", archive_path)
    return archive_path


def _build(root: Path, archive_path: Path) -> None:
    bootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    subprocess.run(bootstrap, check=True, capture_output=True)
    for folder in LEFT_OUT:
        shutil.rmtree(root / folder)
        (root / folder).mkdir()
    for cache in root.rglob("__pycache__"):
        shutil.rmtree(cache)
    if CA_CERTIFICATES.is_file():
        shutil.copyfile(CA_CERTIFICATES, root / CA_CERTIFICATES.relative_to("/"))
    # Of this process: several that run tests side by side may build it.
    unfinished = archive_path.with_suffix(f".{os.getpid()}")
    subprocess.run(["tar", "-C", str(root), "-cf", str(unfinished), "."], check=True)
    unfinished.replace(archive_path)
