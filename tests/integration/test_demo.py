"""
The demo as a user starts it: processes, sockets, and a terminal of eighty columns.
"""

import asyncio
import fcntl
import io
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reporter.embedded.demo.command import run_demo
from reporter.embedded.demo.events import SeenEvent
from reporter.embedded.demo.folder import claim_folder
from reporter.embedded.demo.process import ReporterExited, raise_on_exit, run_reporter
from reporter.embedded.demo.scenario_runner import EventMissing, ScenarioRunner
from reporter.embedded.demo.scenarios import Scenario
from reporter.embedded.demo.terminal.screen import Screen
from reporter.runtime.clock import Clock
from reporter.settings import SettingsError
from tests.integration.demo_process import SOON, DemoProcess, refuses_connection, until
from tests.integration.demo_process import launch_demo as start_demo


WHOLE = 150
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def starting(tmp_path):
    """
    Start a demo; what is left of it is killed afterwards.
    """
    started = []

    def start(*, columns: int = 0, **environ: str) -> DemoProcess:
        ours, theirs = pty.openpty() if columns else os.pipe()
        if columns:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            environ = {"TERM": "xterm", "COLUMNS": "", **environ}
        demo = DemoProcess(start_demo(tmp_path, theirs, **environ), ours, tmp_path)
        os.close(theirs)
        started.append(demo)
        return demo

    yield start
    for demo in started:
        demo.process.kill()
        demo.process.wait()
        os.close(demo.out)


def _told(said: str) -> list[str]:
    """
    The reasons as they were printed, repetitions of the same Event once.
    """
    reasons = re.findall(r"^\d+s +(?:Warning|Normal) +(\w+)", said, re.MULTILINE)
    return [r for at, r in enumerate(reasons) if at == 0 or reasons[at - 1] != r]


def test_the_whole_story_is_told_and_ends_with_success(starting):
    demo = starting()
    assert demo.remaining_output(WHOLE) == 0
    assert _told(demo.output_lines) == [
        "clusterBBRNotReady",
        "clusterReady",
        "clusterKaitoControllerNotReady",
        "clusterReady",
        "clusterCRDMissing",
        "clusterReady",
        "clusterIstioControlPlaneNotReady",
        "clusterReady",
    ]
    assert "CrashLoopBackOff (exit code 1, 4 restarts)" in demo.output_lines
    assert "CRD httproutes.gateway.networking.k8s.io was removed" in demo.output_lines
    assert "(also: clusterBBRNotReady)" in demo.output_lines
    assert demo.output_lines.count("LAST SEEN") == 1
    assert "\x1b" not in demo.output_lines
    until(lambda: not demo.processes)


@pytest.mark.skipif(
    shutil.which("kubectl") is None,
    reason="NO KUBECTL: that the demo's kubeconfig works with it was NOT tested; install kubectl",
)
def test_the_commands_that_it_offers_work_while_it_runs(starting):
    demo = starting()
    events = _kubectl(demo, r"get events .*").removesuffix(" -w")
    demo.until("clusterBBRNotReady")
    assert "clusterBBRNotReady" in _run(events)
    assert re.search(r"kaito-system +kaito-workspace ", _run(_kubectl(demo, "get deploy -A")))
    assert "Conditions:" in _run(_kubectl(demo, "describe .*"))
    demo.until("=example/kaito-workspace:broken")
    pods = _kubectl(demo, "get deploy -A").replace("get deploy -A", "get pods -n kaito-system")
    until(lambda: "CrashLoopBackOff" in _run(pods))


def _kubectl(demo: DemoProcess, what: str) -> str:
    return demo.until(rf"(kubectl --kubeconfig \S+ {what})\n")


def _run(command: str) -> str:
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=SOON, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_ctrl_c_on_a_terminal_stops_everything(starting):
    demo = starting(columns=80)
    demo.until("clusterReady")
    address = demo.address
    assert not refuses_connection(address)
    os.write(demo.out, b"\x03")
    assert demo.remaining_output() == 130
    assert "Traceback" not in demo.output_lines
    assert "Stopped." in demo.output_lines
    assert refuses_connection(address)
    until(lambda: not demo.processes)


def test_lines_fit_a_terminal_but_for_commands_to_copy(starting):
    demo = starting(columns=80, NO_COLOR="1")
    demo.until(r"clusterReady[^▶]*ready\s+again\.\n")
    assert "\x1b" not in demo.output_lines
    copied = ("▶ ", "  kubectl ", "  curl ", "  tail ")
    lines = [line for line in demo.output_lines.splitlines() if not line.startswith(copied)]
    assert max(len(line) for line in lines) <= 80
    os.write(demo.out, b"\x03")
    assert demo.remaining_output() == 130


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_reporter_does_not_outlive_it(starting, number):
    demo = starting()
    address = demo.address
    until(lambda: not refuses_connection(address))
    demo.process.send_signal(number)
    assert demo.remaining_output() in {-signal.SIGKILL, 128 + signal.SIGTERM}
    assert "Traceback" not in demo.output_lines
    until(lambda: refuses_connection(address))
    until(lambda: not demo.processes)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the reporter is found through /proc")
def test_a_reporter_that_dies_ends_it_with_the_end_of_its_log(starting):
    demo = starting()
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


def test_a_reader_that_has_seen_enough_ends_it(starting):
    demo = starting()
    address = demo.address
    until(lambda: not refuses_connection(address))
    os.close(demo.out)
    demo.out = os.open(os.devnull, os.O_RDONLY)
    assert demo.process.wait(SOON) == 0
    until(lambda: not demo.processes)


async def test_a_reporter_that_cannot_start_is_told_with_why(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(ReporterExited, match=r"exit code 2;(?s:.*)--no-such-flag"):
        async with run_reporter(["--no-such-flag=1"], os.environ, log) as process:
            await raise_on_exit(process, log)


async def test_an_event_that_does_not_come_is_told():
    nothing: asyncio.Queue[SeenEvent] = asyncio.Queue()
    teller = ScenarioRunner(Screen(io.StringIO()), Clock(), nothing, timeout_seconds=0.01)
    with pytest.raises(EventMissing, match="no Event clusterBBRNotReady within"):
        await teller.run([Scenario("Something fails.", (), "clusterBBRNotReady", ())])


def test_two_at_once_do_not_share_their_files(tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with claim_folder(environ) as first, claim_folder(environ) as second:
        assert first.path != second.path
    with claim_folder(environ) as again:
        assert again == first


def test_arguments_are_refused():
    with pytest.raises(SettingsError, match="unexpected argument '--emission=all'"):
        run_demo(["--emission=all"])


def test_help_is_readable_in_eighty_columns(capsys):
    assert run_demo(["--help"]) == 0
    said = capsys.readouterr().out
    assert "Ctrl-C" in said
    assert max(len(line) for line in said.splitlines()) <= 80


LONG = SeenEvent(
    type="Warning",
    reason="clusterBBRNotReady",
    object="namespace/kaito-system",
    message=" ".join(["word"] * 40),
    last=NOON,
    count=1,
)


def test_a_wide_terminal_wraps_messages_under_their_column(monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    out = io.StringIO()
    Screen(out, terminal=True).event(LONG, NOON)
    header, *rows = out.getvalue().splitlines()
    at = header.index("MESSAGE")
    assert len(rows) > 1
    assert all(row.index("word") == at for row in rows)
    assert max(len(row) for row in rows) <= 150


def test_elsewhere_an_event_is_one_line():
    out = io.StringIO()
    Screen(out).event(LONG, NOON)
    assert out.getvalue().splitlines()[1].split(maxsplit=4)[4] == LONG.message
