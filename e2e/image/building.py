"""The image, built as `make image` builds it."""

import subprocess

from e2e.image import BASE, IMAGE, base
from e2e.image.storage import Storage


def build(storage: Storage) -> None:
    """Build the image in a store, and put its base there too."""
    flags = "--isolation=chroot"
    if base.is_pulled():
        storage.pull(base.pinned(), BASE)
    else:
        storage.import_archive(base.archive(), BASE)
        flags += f" --build-arg=BASE={BASE}"
    process = subprocess.run(
        ["make", "image", f"IMAGE={IMAGE}", "CONTAINER_TOOL=buildah", f"IMAGE_FLAGS={flags}"],
        cwd=base.DOCKERFILE.parent,
        env=storage.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
