"""A control plane leaves no process and no folder behind, however it ended."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Options, leftovers, until


ROOT = Path(__file__).parents[3]


@pytest.mark.controlplane
@pytest.mark.slow
def test_nothing_is_left_after_stop() -> None:
    with ControlPlane(Options()) as plane:
        pids, folder = set(plane.pids.values()), plane.folder
        assert len(pids) == 5
        assert all(_runs(pid) for pid in pids)
    assert not any(_runs(pid) for pid in pids)
    assert not folder.exists()


@pytest.mark.controlplane
def test_nothing_is_left_after_the_owner_was_killed() -> None:
    owner = _start_owner()
    assert owner.stdout is not None
    folder, *numbers = owner.stdout.readline().decode().split()
    pids = [int(each) for each in numbers]
    assert len(pids) == 5
    assert all(_runs(pid) for pid in pids)
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    until(lambda: not any(_runs(pid) for pid in pids), within=60, what="all processes are gone")
    until(lambda: not Path(folder).exists(), within=60, what="their folder is gone")
    assert owner.returncode == -signal.SIGKILL


def test_next_start_ends_what_even_the_watchdog_left(tmp_path: Path) -> None:
    abandoned = tmp_path / f"{leftovers.PREFIX}abandoned"
    used = tmp_path / f"{leftovers.PREFIX}used"
    for folder in (abandoned, used):
        folder.mkdir()
    leftovers.claim(abandoned).close()
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    leftovers.record(abandoned, process.pid)
    with leftovers.claim(used):
        leftovers.sweep(tmp_path)
        assert process.wait(60) == -signal.SIGKILL
        assert not abandoned.exists()
        assert used.exists()


WRITER = """
import pathlib, sys, time
folder, end = pathlib.Path(sys.argv[1]), time.monotonic() + 2
print("writes", flush=True)
while time.monotonic() < end:
    try:
        (folder / str(time.monotonic_ns())).touch()
    except OSError:
        pass
"""


def test_folder_goes_although_a_process_that_ends_writes_its_last_files(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "data").mkdir(parents=True)
    command = [sys.executable, "-c", WRITER, str(folder / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        leftovers.clear(folder)
        assert not folder.exists()


def _runs(pid: int) -> bool:
    """
    Return whether a process runs. A zombie does not: it only waits for its parent to reap it.
    """
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def _start_owner() -> subprocess.Popen[bytes]:
    program = (
        "import time; from e2e.controlplane import ControlPlane, Options;"
        "plane = ControlPlane(Options());"
        "plane.start(); print(plane.folder, *plane.pids.values(), flush=True); time.sleep(600)"
    )
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
