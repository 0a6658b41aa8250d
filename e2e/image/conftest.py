"""The built image, once for all tests, or a clear message that they did not run."""

import os
import shutil
from pathlib import Path

import pytest

from e2e.image import BASE, IMAGE, building
from e2e.image.storage import Storage
from tests.support.debian import Packages, ProgramMissing
from tests.support.needed_programs import NeededProgram


TOOLS = ("buildah", "runc", "debootstrap")
PACKAGES = Packages(TOOLS, "Elsewhere put these programs on the PATH.")
MEGABYTE = 1e6


def find_tools() -> None:
    """Raise ProgramMissing if the image cannot be built or run here."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise ProgramMissing(f"{', '.join(missing)} not installed.\n{PACKAGES.how}")
    if os.geteuid() != 0:
        raise ProgramMissing("Building and running it needs root.")


IMAGE_TOOLS = NeededProgram(
    title="IMAGE",
    tests="of the image",
    why_skipped="the image was not built, see the end",
    find=find_tools,
    missing=ProgramMissing,
    required_variable="IMAGE_REQUIRED",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    IMAGE_TOOLS.skip_without(
        [item for item in items if "storage" in getattr(item, "fixturenames", ())]
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    IMAGE_TOOLS.report_skipped(terminalreporter)


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """Return an image store with the image, as `make image` builds it, and its base."""
    storage = Storage(tmp_path_factory.mktemp("storage"))
    building.build(storage)
    size, of_base = storage.size(IMAGE), storage.size(BASE)
    print(f"image {size / MEGABYTE:.0f} MB, of which the base {of_base / MEGABYTE:.0f}")
    return storage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that the user of a container may enter; those of pytest are private."""
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    return tmp_path
