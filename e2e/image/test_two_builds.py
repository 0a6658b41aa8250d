"""Two builds of one commit on one base are one image, to the byte."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from e2e.image import IMAGE, building
from e2e.image.storage import Storage


PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700

pytestmark = pytest.mark.slow


def test_a_second_build_in_another_checkout_is_the_same_image(
    storage: Storage, tmp_path: Path
) -> None:
    """The other one has files of another time, that only their owner may read."""
    checkout = tmp_path / "checkout"
    for name in building.SOURCES:
        _copy(building.ROOT / name, checkout / name)
    (tmp_path / "storage").mkdir()
    second = Storage(tmp_path / "storage")
    made = storage.inspect(IMAGE)["OCIv1"]
    revision = made["config"]["Labels"]["org.opencontainers.image.revision"]
    time = _commit_time(revision)
    assert datetime.fromisoformat(made["created"]) == datetime.fromtimestamp(time, UTC)
    words = (f"REVISION={revision}", f"SOURCE_DATE_EPOCH={time}")
    building.build(second, checkout, *words)
    differences = {*storage.contents(IMAGE)} ^ {*second.contents(IMAGE)}
    assert sorted(differences) == []
    assert second.digest(IMAGE) == storage.digest(IMAGE)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=ignored, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(source, target)
    for path in (target, *target.rglob("*")):
        path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)


def _commit_time(revision: str) -> int:
    command = ["git", "log", "-1", "--format=%ct", revision]
    done = subprocess.run(command, cwd=building.ROOT, check=True, capture_output=True, text=True)
    return int(done.stdout)
