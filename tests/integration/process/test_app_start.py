"""A process that cannot start ends with exit code 2 and names what to change."""

import os
import socket
from pathlib import Path

import pytest

from devcluster.server import DevCluster
from tests.integration.process.reporter_process import (
    run_to_exit,
    server,
)
from tests.support.command_line import run_command_line


__all__ = ["server"]


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        ("--resync-seconds=soon", "--resync-seconds"),
        ("--lease-duration-seconds=5", "--lease-duration-seconds"),
    ],
)
def test_a_bad_flag_ends_with_2_and_its_name(flag: str, named: str):
    ended = run_command_line("run", flag)
    assert ended.returncode == 2
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{}", "context"),
        ("clusters: [", ""),
    ],
)
def test_a_bad_kubeconfig_ends_with_2_and_names_it(tmp_path: Path, text: str, named: str):
    path = tmp_path / "kubeconfig"
    path.write_text(text, encoding="utf-8")
    at = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    ended = run_command_line("run", f"--kubeconfig={path}", *at)
    assert ended.returncode == 2
    assert "kubeconfig" in ended.stderr
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("flag", ["--catalogue-overlay", "--packs"])
async def test_a_fifo_in_place_of_a_catalogue_file_ends_with_2_and_names_it(
    tmp_path: Path, flag: str
):
    fifo = tmp_path / "pack.yaml"
    os.mkfifo(fifo)
    code, output = await run_to_exit(f"{flag}={fifo if flag != '--packs' else tmp_path}")
    assert code == 2
    assert str(fifo) in output
    assert "it is not a regular file" in output


def test_a_kubeconfig_that_is_not_there_ends_with_2_and_the_flags_name(tmp_path: Path):
    ended = run_command_line("run", f"--kubeconfig={tmp_path / 'none'}")
    assert (ended.returncode, "--kubeconfig" in ended.stderr) == (2, True)


@pytest.mark.parametrize("flag", ["metrics-bind-address", "health-probe-bind-address"])
async def test_a_taken_port_ends_with_2_and_what_to_do(
    server: DevCluster, tmp_path: Path, flag: str
):
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    other = {"metrics-bind-address": "health-probe-bind-address"}.get(flag, "metrics-bind-address")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, output = await run_to_exit(
            f"--kubeconfig={config}", f"--{flag}=127.0.0.1:{port}", f"--{other}=0"
        )
    assert code == 2
    assert str(port) in output
    assert f"--{flag}" in output
    assert "Traceback" not in output
