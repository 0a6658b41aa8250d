"""A fork of the loaded program is as a process that was started anew."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import until
from e2e.support.loaded_program import LoadedProgram, in_use, loaded_for


PROGRAM = [sys.executable, "-m", "reporter.cli"]
HANGS = ["run", "--leader-elect=false", "--kubeconfig"]
WITHIN = 60


@pytest.fixture
def loaded() -> Iterator[LoadedProgram]:
    with in_use():
        found = loaded_for(PROGRAM)
        assert found is not None
        yield found


def test_it_writes_and_ends_as_a_new_process_does(loaded: LoadedProgram, tmp_path: Path) -> None:
    for words in (["version"], ["run", "--kubeconfig=/nonexistent"], ["nothing"]):
        log = tmp_path / "log"
        with log.open("wb") as output:
            code = loaded.start([*PROGRAM, *words], output, None).wait(WITHIN)
        anew = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)
        assert (code, log.read_text()) == (anew.returncode, anew.stdout + anew.stderr)


def test_it_has_its_own_session_and_no_file_of_the_other(
    loaded: LoadedProgram, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    # Nothing accepts connections, so that the program waits for an answer until it is killed.
    with socket.create_server(("127.0.0.1", 0)) as silent, log.open("wb") as output:
        config = _kubeconfig(tmp_path / "kubeconfig", silent.getsockname()[1])
        fork = loaded.start([*PROGRAM, *HANGS, str(config)], output, None)
        until(
            lambda: _sockets(loaded.pid).isdisjoint(_sockets(fork.pid)),
            within=WITHIN,
            what="it has no socket of the other",
        )
        assert os.getsid(fork.pid) == fork.pid
        with pytest.raises(subprocess.TimeoutExpired):
            fork.wait(0)
        os.killpg(fork.pid, signal.SIGKILL)
        assert fork.wait(WITHIN) == fork.poll() == -signal.SIGKILL


def _kubeconfig(path: Path, port: int) -> Path:
    cluster = {"name": "silent", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "silent", "context": {"cluster": "silent"}}
    content = {"current-context": "silent", "clusters": [cluster], "contexts": [context]}
    path.write_text(json.dumps(content))
    return path


def _sockets(pid: int) -> set[str]:
    opened = Path("/proc", str(pid), "fd").iterdir()
    links = {str(each.readlink()) for each in opened if each.is_symlink()}
    return {each for each in links if each.startswith("socket:")}


def test_what_changes_the_world_first_is_no_fork(loaded: LoadedProgram) -> None:
    assert loaded_for([sys.executable, "-m", "e2e.faults.support.altered_reporter"]) is None
    assert loaded_for([sys.executable, "-X", "importtime", "-m", "reporter.cli"]) is None
    assert loaded_for(["/bin/sh", "-c", "true"]) is None


def test_the_process_that_is_forked_ends_with_its_owner(tmp_path: Path) -> None:
    owner = (
        "import os, sys\n"
        "from e2e.support.loaded_program import LoadedProgram\n"
        "loaded = LoadedProgram()\n"
        "with open(os.devnull, 'wb') as output:\n"
        "    loaded.start([sys.executable, '-m', 'reporter.cli', 'version'], output, None).wait(60)\n"
        "print(loaded.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", owner],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    entry = Path("/proc", done.stdout.strip())
    until(lambda: not entry.exists(), within=WITHIN, what="it has ended")
