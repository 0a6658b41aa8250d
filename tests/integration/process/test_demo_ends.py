"""The ends of the demo, on a terminal of eighty columns and without one."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.process.demo_process import (
    TIMEOUT,
    DemoProcess,
    refuses_connection,
    started_demo,
    until,
)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory) -> Iterator[DemoProcess]:
    """A demo on a terminal without colours, which Ctrl-C ended after its first recovery."""
    folder = tmp_path_factory.mktemp("demo")
    with started_demo(folder, columns=80, NO_COLOR="1") as demo:
        demo.until(r"clusterReady[^▶]*ready\s+again\.\n")
        assert not refuses_connection(demo.address)
        os.write(demo.out, b"\x03")
        assert demo.remaining_output() == 130
        yield demo


def test_ctrl_c_on_a_terminal_stops_everything(interrupted):
    assert "Traceback" not in interrupted.output_lines
    assert "Stopped." in interrupted.output_lines
    assert refuses_connection(interrupted.address)
    until(lambda: not interrupted.processes)


def test_lines_fit_a_terminal_but_for_commands_to_copy(interrupted):
    assert "\x1b" not in interrupted.output_lines
    unwrapped = ("▶ ", "  kubectl ", "  curl ", "  tail ")
    shown = interrupted.output_lines.splitlines()
    lines = [line for line in shown if not line.startswith(unwrapped)]
    assert max(len(line) for line in lines) <= 80


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_reporter_does_not_outlive_it(tmp_path, number):
    with started_demo(tmp_path) as demo:
        address = demo.address
        until(lambda: not refuses_connection(address))
        demo.process.send_signal(number)
        assert demo.remaining_output() in {-signal.SIGKILL, 128 + signal.SIGTERM}
        assert "Traceback" not in demo.output_lines
        until(lambda: refuses_connection(address))
        until(lambda: not demo.processes)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the reporter is found through /proc")
def test_a_reporter_that_dies_ends_it_with_the_end_of_its_log(tmp_path):
    with started_demo(tmp_path) as demo:
        demo.until("clusterBBRNotReady")
        pids = (int(p.name) for p in Path("/proc").glob("[0-9]*") if _is_reporter(p, demo.cache))
        os.kill(next(pids), signal.SIGKILL)
        assert demo.remaining_output() == 1
        assert "The demo FAILED: the reporter ended with exit code -9" in demo.output_lines
        assert "INFO" in demo.output_lines.partition("The demo FAILED")[2]


def _is_reporter(process: Path, cache: Path) -> bool:
    try:
        arguments = (process / "cmdline").read_bytes()
    except OSError:
        return False
    return b"\0run\0" in arguments and f"--kubeconfig={cache}".encode() in arguments


def test_a_closed_output_pipe_ends_it(tmp_path):
    with started_demo(tmp_path) as demo:
        address = demo.address
        until(lambda: not refuses_connection(address))
        os.close(demo.out)
        demo.out = os.open(os.devnull, os.O_RDONLY)
        assert demo.process.wait(TIMEOUT) == 0
        until(lambda: not demo.processes)
