"""The file of silences is read at the start, and again when it changes."""

import asyncio
import logging
from pathlib import Path, PosixPath

import pytest

from reporter.controller.silence_file import SilenceFileReader
from reporter.model.silences import SilenceFile
from tests.support.background import running_beside


ONE = "silences: [{ reasons: [all], until: 2026-12-01 }]"
INTERVAL = 0.01


class Seen:
    def __init__(self) -> None:
        self.files: list[SilenceFile] = []
        self.changed = asyncio.Event()

    def take(self, file: SilenceFile) -> None:
        self.files.append(file)
        self.changed.set()

    async def next(self) -> SilenceFile:
        async with asyncio.timeout(30):
            await self.changed.wait()
        self.changed.clear()
        return self.files[-1]


def write(path: Path, text: str) -> None:
    """Replace the file at once: half of it would be another content."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "silences.yaml"


async def test_a_silence_file_is_read_before_anything_runs(path):
    write(path, ONE)
    seen = Seen()
    SilenceFileReader(path, seen.take)
    assert [each.reasons for each in seen.files[0].silences] == [("all",)]


async def test_a_silence_file_may_appear_change_break_and_disappear(path):
    seen = Seen()
    reader = SilenceFileReader(path, seen.take, interval=INTERVAL)
    assert not (await seen.next()).exists
    async with running_beside(reader.run(), "reader"):
        write(path, ONE)
        assert len((await seen.next()).silences) == 1
        write(path, "silences: [")
        assert (await seen.next()).problem
        write(path, "silences: []")
        assert await seen.next() == SilenceFile(str(path))
        path.unlink()
        assert not (await seen.next()).exists


async def test_a_file_that_goes_is_logged(path, caplog):
    caplog.set_level(logging.INFO)
    write(path, ONE)
    seen = Seen()
    reader = SilenceFileReader(path, seen.take, interval=INTERVAL)
    await seen.next()
    assert caplog.records == []
    async with running_beside(reader.run(), "reader"):
        path.unlink()
        assert not (await seen.next()).exists
    (record,) = caplog.records
    assert (record.levelname, "is gone, and silences nothing" in record.getMessage()) == (
        "WARNING",
        True,
    )


async def test_a_swapped_symlink_is_a_change(tmp_path, path):
    for number, text in enumerate(("", ONE)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "silences.yaml").write_text(text)
    (tmp_path / "data").symlink_to("0")
    path.symlink_to("data/silences.yaml")
    seen = Seen()
    reader = SilenceFileReader(path, seen.take, interval=INTERVAL)
    assert (await seen.next()).silences == ()
    async with running_beside(reader.run(), "reader"):
        (tmp_path / "new").symlink_to("1")
        (tmp_path / "new").rename(tmp_path / "data")
        assert len((await seen.next()).silences) == 1


async def test_the_same_content_is_no_change(path):
    write(path, ONE)
    seen = Seen()
    reader = SilenceFileReader(path, seen.take, interval=INTERVAL)
    await seen.next()
    async with running_beside(reader.run(), "reader"):
        write(path, ONE)
        await asyncio.sleep(10 * INTERVAL)
        write(path, "")
        await seen.next()
    assert [len(each.silences) for each in seen.files] == [1, 0]


class FaultyPath(PosixPath):
    """A path about which a question has a fault that is no error of the file system."""

    def stat(self, **how):
        raise RuntimeError("a fault")


async def test_a_fault_silences_nothing_and_ends_no_process(path, caplog):
    write(path, ONE)
    seen = Seen()
    reader = SilenceFileReader(FaultyPath(path), seen.take, interval=INTERVAL)
    async with running_beside(reader.run(), "reader"):
        assert (await seen.next()).problem == "RuntimeError: a fault"
        write(path, ONE + "\n")
        assert (await seen.next()).problem == "RuntimeError: a fault"
    assert all(not each.silences for each in seen.files)
    assert "RuntimeError: a fault" in caplog.text
