"""The watch of an overlay's file: what is loaded, refused and applied, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from reporter.catalogue.entries import Catalogue
from reporter.controller.overlay_watch import OverlayWatch, ReloadRefused, read_fingerprint
from reporter.metrics.process import ReloadResult
from reporter.settings import SettingsError
from tests.support.builders import a_catalogue, an_entry
from tests.support.mounted_file import MountedFile
from tests.support.stubs.api_servers import until


CATALOGUES = {
    "one": a_catalogue(an_entry("clusterOne")),
    "two": a_catalogue(an_entry("clusterTwo")),
}


class Watched:
    """
    A watch whose file names a catalogue; any other word is refused, and *fault* is a fault of ours.

    *apply_fault*: raised in place of a change. *may_apply*: without it a change waits.
    """

    def __init__(self, file: MountedFile) -> None:
        self.file, self.loads = file, 0
        self.applied: list[Catalogue] = []
        self.results: list[ReloadResult] = []
        self.apply_fault: Exception | None = None
        self.may_apply = asyncio.Event()
        self.may_apply.set()
        self.watch = OverlayWatch(
            file.path,
            CATALOGUES["one"],
            self._load,
            self._apply,
            count=self.results.append,
            interval=timedelta(milliseconds=5),
        )

    def _load(self) -> Catalogue:
        word = self.file.path.read_text().strip()
        self.loads += 1  # after the reading, so that a test that waits for it may replace the file
        if word == "fault":
            raise RuntimeError("a fault")
        if word not in CATALOGUES:
            raise SettingsError("--catalogue-overlay", f"refused:\noverlay.yaml:1: {word}")
        return CATALOGUES[word]

    async def _apply(self, catalogue: Catalogue) -> None:
        await self.may_apply.wait()
        if self.apply_fault is not None:
            raise self.apply_fault
        self.applied.append(catalogue)


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Watched]:
    found = Watched(MountedFile(folder / "mount", "one\n"))
    task = asyncio.create_task(found.watch.run())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_the_file_as_it_was_at_the_start_changes_nothing(tmp_path: Path):
    async with watched(tmp_path) as each:
        await until(lambda: each.loads == 1)
        await asyncio.sleep(0.05)
        assert (each.loads, each.applied, each.results) == (1, [], [])


async def test_a_change_is_applied_once(tmp_path: Path):
    async with watched(tmp_path) as each:
        each.file.write("two\n")
        await until(lambda: each.applied == [CATALOGUES["two"]])
        await until(lambda: each.results == [ReloadResult.APPLIED])
        each.file.write("one\n")
        await until(lambda: each.applied[-1] == CATALOGUES["one"])


async def test_what_is_refused_is_named_until_it_is_right(tmp_path: Path):
    async with watched(tmp_path) as each:
        await until(lambda: each.loads == 1)
        each.file.write("three\n")
        await until(lambda: "overlay.yaml:1: three" in each.watch.why_refused)
        assert each.results == [ReloadResult.REFUSED]
        each.file.write("one\n")
        await until(lambda: not each.watch.why_refused)
        assert each.results == [ReloadResult.REFUSED, ReloadResult.APPLIED]
        assert each.applied == []


async def test_a_fault_in_loading_ends_no_watch(tmp_path: Path):
    async with watched(tmp_path) as each:
        each.file.write("fault\n")
        await until(lambda: each.watch.why_refused == "RuntimeError: a fault")
        each.file.write("two\n")
        await until(lambda: each.applied == [CATALOGUES["two"]])


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (ReloadRefused("restart the reporter"), "restart the reporter"),
        (RuntimeError("a fault"), "RuntimeError: a fault"),
    ],
    ids=["refused", "fault"],
)
async def test_what_cannot_be_applied_is_refused_and_tried_again_with_the_next_change(
    tmp_path: Path, fault: Exception, shown: str
):
    async with watched(tmp_path) as each:
        each.apply_fault = fault
        each.file.write("two\n")
        await until(lambda: each.watch.why_refused == shown)
        assert each.results == [ReloadResult.REFUSED]
        each.apply_fault = None
        each.file.write("two\n\n")
        await until(lambda: each.applied == [CATALOGUES["two"]])


async def test_a_change_counts_once_it_is_in_effect(tmp_path: Path):
    async with watched(tmp_path) as each:
        await until(lambda: each.loads == 1)
        each.may_apply.clear()
        each.file.write("two\n")
        await until(lambda: each.loads == 2)
        await asyncio.sleep(0.05)
        assert (each.applied, each.results) == ([], [])
        each.may_apply.set()
        await until(lambda: each.results == [ReloadResult.APPLIED])
        assert each.applied == [CATALOGUES["two"]]


async def test_a_file_that_goes_is_refused(tmp_path: Path):
    async with watched(tmp_path) as each:
        await until(lambda: each.loads == 1)
        each.file.remove()
        await until(lambda: bool(each.watch.why_refused))


def test_the_fingerprint_follows_the_links_of_a_mount(tmp_path: Path):
    file = MountedFile(tmp_path / "mount", "one")
    before = read_fingerprint(file.path)
    assert read_fingerprint(file.path) == before
    file.write("two")
    assert read_fingerprint(file.path) != before
    file.remove()
    assert read_fingerprint(file.path)[0] == "missing"
