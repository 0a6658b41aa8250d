"""The output for a terminal: colours, and the progress of reading."""

import asyncio
import os
import pty
import sys
from pathlib import Path

import pytest

from devcluster.server import DevCluster
from reporter.status.table import COLOURS, RESET
from tests.integration.status.asking import server
from tests.support.command_line import environment


__all__ = ["server"]

PROGRESS = "reading the cluster: "
GREEN = COLOURS["Ready"]


async def shown(server: DevCluster, folder: Path, **environ: str) -> str:
    """Return what status writes to a terminal."""
    config = server.write_kubeconfig(folder / "kubeconfig")
    ours, theirs = pty.openpty()
    env = {"TERM": "xterm", **environment(KUBECONFIG=str(config)), **environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "reporter.cli", "status", "--from=cluster"),
        env={name: value for name, value in env.items() if name != "NO_COLOR" or name in environ},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    reading = asyncio.create_task(asyncio.to_thread(read_all, ours))
    async with asyncio.timeout(60):
        assert await process.wait() == 0
        return await reading


def read_all(descriptor: int) -> str:
    """Read until the other side is closed, which Linux reports as an error of input and output."""
    found = b""
    try:
        while part := os.read(descriptor, 65536):
            found += part
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return found.decode()


async def test_a_terminal_has_coloured_states_and_progress(server: DevCluster, tmp_path: Path):
    text = await shown(server, tmp_path)
    assert f"{GREEN}Ready{RESET}" in text
    assert f"{PROGRESS}1 of " in text
    assert text.rindex(PROGRESS) < text.index("NAME ")


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
async def test_colours_can_be_switched_off(server: DevCluster, tmp_path: Path, environ):
    text = await shown(server, tmp_path, **environ)
    assert GREEN not in text
    assert "Ready" in text
    assert (PROGRESS in text) == ("TERM" not in environ)


async def test_who_silences_is_asked_where_no_variable_says_it():
    ours, theirs = pty.openpty()
    env = {name: value for name, value in environment().items() if name != "USER"}
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "reporter.cli",
            "silence",
            "team-a",
            "all",
            "--until=1h",
            "--why=x",
        ),
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"carol\n")
    reading = asyncio.create_task(asyncio.to_thread(read_all, ours))
    async with asyncio.timeout(60):
        assert await process.wait() == 0
        text = await reading
    assert "Who silences? " in text
    assert "/silence-by: carol" in text
