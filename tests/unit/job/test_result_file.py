"""Files and other things at the path of the result file."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from reporter.job.result import InvalidResult, NoFile, ValidResult
from reporter.job.result_file import MAX_FILE_BYTES, read_result


RESULT = b'{"status":"success","reason":"R","message":"m"}'
OK = ValidResult(is_success=True, reason="R", message="m")


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder / "adapter-result.json"


def error_of(path) -> str:
    found = read_result(str(path))
    assert isinstance(found, InvalidResult)
    return found.error


def test_nothing_there_is_no_file(path):
    assert read_result(str(path)) == NoFile()
    assert read_result(str(path / "below" / "nothing")) == NoFile()


def test_a_result_is_read(path):
    path.write_bytes(RESULT)
    assert read_result(str(path)) == OK


def test_an_empty_file_is_invalid(path):
    path.touch()
    assert error_of(path) == f"result file is empty: path={path}"


@pytest.mark.parametrize(
    ("size", "valid"), [(MAX_FILE_BYTES, True), (MAX_FILE_BYTES + 1, False), (2**31, False)]
)
def test_a_file_has_at_most_a_mebibyte(path, size, valid):
    path.write_bytes(RESULT + b" " * (min(size, 2**21) - len(RESULT)))
    os.truncate(path, size)
    found = read_result(str(path))
    if valid:
        assert found == OK
    else:
        text = f"result file too large: path={path} size={size} max=1048576"
        assert isinstance(found, InvalidResult)
        assert found.error == text


def test_a_directory_is_invalid(path):
    path.mkdir()
    assert error_of(path) == f"failed to read result file path={path}: read {path}: is a directory"


def test_a_fifo_does_not_block_with_and_without_a_writer(path):
    os.mkfifo(path)
    text = f"result file is not a regular file: path={path}"
    assert error_of(path) == text
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    try:
        os.write(writer, RESULT)
        assert error_of(path) == text
    finally:
        os.close(writer)
        os.close(reader)


def test_a_writer_that_waits_at_a_fifo_is_not_read(path):
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: os.close(os.open(path, os.O_WRONLY)), daemon=True)
    writer.start()
    assert "not a regular file" in error_of(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # releases a writer that comes later
    writer.join(30)
    os.close(reader)
    assert not writer.is_alive()


def test_a_socket_is_invalid(path, monkeypatch):
    monkeypatch.chdir(path.parent)  # the path of a socket has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)
        assert error_of(path) == (
            f"failed to read result file path={path}: open {path}: no such device or address"
        )


def test_a_link_inside_of_the_folder_is_followed(path):
    (path.parent / "run-7.json").write_bytes(RESULT)
    path.symlink_to("run-7.json")
    assert read_result(str(path)) == OK
    path.unlink()
    (path.parent / "runs").mkdir()
    (path.parent / "run-7.json").rename(path.parent / "runs" / "7.json")
    path.symlink_to(path.parent / "runs" / "7.json")
    assert read_result(str(path)) == OK


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_that_leads_out_of_the_folder_is_refused(path, relative):
    outside = path.parent.parent / "token"
    outside.write_bytes(RESULT)
    path.symlink_to("../token" if relative else outside)
    assert error_of(path) == f"result file is a link that leads out of its folder: path={path}"


def test_a_link_through_a_folder_that_leads_out_is_refused(path):
    outside = path.parent.parent / "secrets"
    outside.mkdir()
    (outside / "token").write_bytes(RESULT)
    (path.parent / "inside").symlink_to(outside)
    path.symlink_to("inside/token")
    assert "leads out of its folder" in error_of(path)


def test_a_link_to_nothing_is_no_file_and_one_to_itself_is_invalid(path):
    path.symlink_to("later.json")
    assert read_result(str(path)) == NoFile()
    path.unlink()
    path.symlink_to(path.name)
    assert error_of(path) == (
        f"failed to stat result file path={path}: stat {path}: too many levels of symbolic links"
    )


def test_a_folder_that_is_itself_a_link_is_followed(path, tmp_path):
    path.write_bytes(RESULT)
    (tmp_path / "mount").symlink_to(path.parent)
    assert read_result(str(tmp_path / "mount" / path.name)) == OK


def test_a_file_as_the_folder_is_invalid(path):
    path.write_bytes(RESULT)
    below = path / "result.json"
    assert error_of(below) == (
        f"failed to stat result file path={below}: stat {below}: not a directory"
    )


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_invalid(device):
    assert error_of(device) == f"result file is not a regular file: path={device}"


def test_a_file_of_proc_is_not_read(path):
    assert error_of("/proc/self/environ") == "result file is empty: path=/proc/self/environ"


def test_a_half_written_file_differs_from_the_one_that_is_written_on(path):
    path.write_bytes(RESULT[:20])
    half = read_result(str(path))
    assert half == read_result(str(path))
    path.write_bytes(RESULT[:30])
    more = read_result(str(path))
    assert isinstance(half, InvalidResult)
    assert isinstance(more, InvalidResult)
    assert half.error == more.error
    assert half != more


def test_a_file_that_is_replaced_is_read_anew(path):
    path.write_bytes(b"{")
    assert "unexpected end" in error_of(path)
    new = path.with_suffix(".new")
    new.write_bytes(RESULT)
    new.rename(path)
    assert read_result(str(path)) == OK


def test_a_replaced_invalid_file_of_the_same_size_is_another_one(path):
    path.write_bytes(b"{")
    before = read_result(str(path))
    new = path.with_suffix(".new")
    new.write_bytes(b"[")
    os.utime(new, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    new.rename(path)
    assert read_result(str(path)) != before


def _open_files(folder: Path) -> list[Path]:
    """
    Return the open files below a folder. Files of other tests and threads may be closed meanwhile.
    """
    found: list[Path] = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(each.readlink())
    return [each for each in found if each.is_relative_to(folder)]


def test_no_file_descriptor_is_left_open(path):
    os.mkfifo(path)
    for _ in range(10):
        read_result(str(path))
        read_result(str(path.parent))
    assert _open_files(path.parent) == []
    other = path.with_name("other")
    with other.open("w"):
        assert _open_files(path.parent) == [other]
