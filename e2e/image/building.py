"""The image, built as `make image` builds it."""

import subprocess
from pathlib import Path

from e2e.image import BASE, IMAGE, base
from e2e.image.storage import Storage


ROOT = base.DOCKERFILE.parent
SOURCES = (
    *("Dockerfile", "Makefile", "pyproject.toml", "README.md", "LICENSE", "catalogue", "reporter"),
    *("requirements.build.lock", "requirements.run.lock"),
    *("e2e/image/copy_system.py", "e2e/image/drop_unused.py"),
)
"""Files and folders that the image is built from."""


def build(storage: Storage, checkout: Path = ROOT, *words: str) -> None:
    """Build the image in a store, and put its base there too. *words*: further ones for make."""
    flags = "--isolation=chroot"
    if base.is_pulled():
        storage.pull(base.pinned(), BASE)
    else:
        storage.import_archive(base.archive(), BASE)
        flags += f" --build-arg=BASE={BASE}"
    process = subprocess.run(
        [
            *("make", "image", f"IMAGE={IMAGE}", "CONTAINER_TOOL=buildah", f"IMAGE_FLAGS={flags}"),
            *words,
        ],
        cwd=checkout,
        env=storage.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
