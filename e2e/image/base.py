"""
A base image without a registry: Debian's own Python, put together with debootstrap and cached.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


SUITE = "bookworm"
PACKAGES = "python3,python3-pip,ca-certificates"
TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")
"""
Of this machine: behind a proxy that opens TLS, pip trusts nothing else.
"""


def archive() -> Path:
    """
    Made at the first call, which takes a minute or two. Raises CalledProcessError.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    made = Path(home) / "productionstack-status-reporter" / f"base-{SUITE}.tar"
    if not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            _make(Path(folder) / "root", made)
    return made


def _make(root: Path, made: Path) -> None:
    bootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    subprocess.run(bootstrap, check=True, capture_output=True)
    if TRUSTED.is_file():
        shutil.copyfile(TRUSTED, root / TRUSTED.relative_to("/"))
    unfinished = made.with_suffix(".unfinished")
    subprocess.run(["tar", "-C", str(root), "-cf", str(unfinished), "."], check=True)
    unfinished.replace(made)
