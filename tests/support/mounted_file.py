"""A file of a ConfigMap as the kubelet mounts it, and changes it."""

import itertools
import shutil
from pathlib import Path


class MountedFile:
    """
    *path*: a link to ``..data/NAME``, where ``..data`` is a link to a folder that is replaced as a whole
    (kubernetes/pkg/volume/util/atomic_writer.go).
    """

    def __init__(self, folder: Path, text: str, *, name: str = "overlay.yaml") -> None:
        self._folder, self._versions = folder, itertools.count(1)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / name
        self.write(text)
        self.path.symlink_to(f"..data/{name}")

    def write(self, text: str) -> None:
        """Replace the folder, and remove the one before."""
        data = self._folder / "..data"
        before = data.readlink() if data.is_symlink() else None
        after = self._folder / f"..2026_11_22_12_00_{next(self._versions):02}"
        after.mkdir()
        (after / self.path.name).write_text(text)
        link = self._folder / "..data_tmp"
        link.symlink_to(after.name)
        link.rename(data)
        if before is not None:
            shutil.rmtree(self._folder / before)

    def remove(self) -> None:
        """Remove the file, as if the ConfigMap were deleted."""
        self.path.unlink()
