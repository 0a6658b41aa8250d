"""
The process needs nothing but its API server: no file to write, no other program, no other address.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

import reporter
from devcluster.server import DevCluster
from tests.support.ports import free_port


NOBODY = 65534
HOOK = """
import os
import sys

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.chmod",
           "os.chown", "os.truncate", "os.utime", "os.setxattr", "tempfile.mkstemp",
           "tempfile.mkdtemp", "shutil.")
PROGRAMS = ("subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "pty.")


def report(what, *about):
    os.write(2, f"AUDIT {what} {about!r}\\n".encode("utf-8", "replace"))


def hook(event, args):
    if event == "open" and (args[2] or 0) & WRITING:
        report("write", args[0])
    elif event.startswith(CHANGES):
        report("write", event, *args[:1])
    elif event.startswith(PROGRAMS):
        report("program", event, *args[:1])
    elif event in ("socket.connect", "socket.sendto", "socket.bind"):
        report(event, args[1])


report("begun")
sys.addaudithook(hook)
"""
IPV6_PROBE = "AUDIT socket.bind (('::1', 0),)"
"""The probe that urllib3 makes at import; the socket is closed at once and never listens."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may read and only its owner may write."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def unprivileged() -> dict[str, object]:
    """Return another user, if this process may become one who can read the sources."""
    places = (Path(reporter.__file__), Path(sys.executable).resolve(), Path(sys.prefix))
    seen = all(p.stat().st_mode & 0o005 == 0o005 for each in places for p in each.parents)
    if os.geteuid() != 0 or not seen:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


async def answering(url: str) -> str:
    for _ in range(600):
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as response:
                if response.status == 200:
                    return await response.text()
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.1)
    return ""


async def test_nothing_is_written_run_or_reached_but_the_api_server(folder):
    (folder / "sitecustomize.py").write_text(HOOK)
    port = free_port()
    async with DevCluster() as server:
        server.load_example_stack()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "reporter.cli", "run"),
            f"--kubeconfig={server.write_kubeconfig(folder / 'kubeconfig')}",
            "--metrics-bind-address=0",
            f"--health-probe-bind-address=127.0.0.1:{port}",
            cwd="/proc/self",
            env={
                "HOME": "/nonexistent",
                "PYTHONPATH": f"{folder}:{Path(reporter.__file__).parents[1]}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "POD_NAMESPACE": "kube-system",
            },
            stderr=asyncio.subprocess.PIPE,
            **unprivileged(),
        )
        try:
            ready = await answering(f"http://127.0.0.1:{port}/readyz")
            status = await answering(f"http://127.0.0.1:{port}/status")
        finally:
            process.send_signal(signal.SIGTERM)
            _, output = await asyncio.wait_for(process.communicate(), 60)
        lines = output.decode().splitlines()
        known = {
            "AUDIT begun ()",
            f"AUDIT socket.connect (('127.0.0.1', {server.port}),)",
            f"AUDIT socket.bind (('127.0.0.1', {port}),)",
        }
        audited = {line for line in lines if line.startswith("AUDIT")}
        assert audited - {IPV6_PROBE} == known, output.decode()
        assert (ready, process.returncode) == ("ok\n", 0), output.decode()
        assert '"leading"' in status
