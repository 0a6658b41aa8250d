"""
A base image without a registry: Debian's Python, built with debootstrap and cached.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


SUITE = "bookworm"
PACKAGES = "python3,python3-pip,ca-certificates"
CA_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""
The CA certificates of this machine, which pip needs behind a proxy that terminates TLS.
"""


def archive() -> Path:
    """
    Return the archive of the base image. The first call builds it, which takes a minute or two.

    Raise CalledProcessError if the build fails.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    archive_path = Path(home) / "productionstack-status-reporter" / f"base-{SUITE}.tar"
    if not archive_path.is_file():
        archive_path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            _build(Path(folder) / "root", archive_path)
    return archive_path


def _build(root: Path, archive_path: Path) -> None:
    bootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    subprocess.run(bootstrap, check=True, capture_output=True)
    if CA_CERTIFICATES.is_file():
        shutil.copyfile(CA_CERTIFICATES, root / CA_CERTIFICATES.relative_to("/"))
    unfinished = archive_path.with_suffix(".unfinished")
    subprocess.run(["tar", "-C", str(root), "-cf", str(unfinished), "."], check=True)
    unfinished.replace(archive_path)
