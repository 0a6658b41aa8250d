"""The demo as a user starts it, from its first line to its last."""

import asyncio
import io
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from devcluster.__main__ import main
from devcluster.demo.events import SeenEvent
from devcluster.demo.folder import claim_folder
from devcluster.demo.process import ReporterExited, raise_on_exit, run_reporter
from devcluster.demo.scenario_runner import EventMissing, ScenarioRunner
from devcluster.demo.scenarios import Scenario
from devcluster.demo.terminal.screen import Screen
from reporter.process.clock import Clock
from tests.integration.process.demo_process import (
    TIMEOUT,
    DemoProcess,
    refuses_connection,
    started_demo,
    until,
)


DEMO_TIMEOUT = 400
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Iterator[DemoProcess]:
    """One run of all scenarios, which the tests follow in their order."""
    with started_demo(tmp_path_factory.mktemp("demo")) as demo:
        yield demo


def test_the_printed_address_has_the_status_page(demo):
    url = demo.until(r"  (http://\S+/) in a browser: the status page")
    until(lambda: not refuses_connection(("127.0.0.1", int(url.rsplit(":", 1)[1].rstrip("/")))))
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert b"Production stack status" in response.read()


@pytest.mark.skipif(
    shutil.which("kubectl") is None,
    reason="NO KUBECTL: the demo's kubeconfig was NOT tested with it; install kubectl",
)
def test_the_printed_kubectl_commands_work_while_it_runs(demo):
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
    process = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def _printed_reasons(output: str) -> list[str]:
    """Return the reasons in the order of output, consecutive repetitions once."""
    reasons = re.findall(r"^\d+s +(?:Warning|Normal) +(\w+)", output, re.MULTILINE)
    return [r for i, r in enumerate(reasons) if i == 0 or reasons[i - 1] != r]


def test_all_scenarios_run_and_the_exit_code_is_zero(demo):
    assert demo.remaining_output(DEMO_TIMEOUT) == 0
    assert _printed_reasons(demo.output_lines) == [
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


async def test_a_reporter_that_cannot_start_is_reported_with_its_log(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(ReporterExited, match=r"exit code 2;(?s:.*)--no-such-flag"):
        async with run_reporter(["--no-such-flag=1"], os.environ, log) as process:
            await raise_on_exit(process, log)


async def test_an_event_that_does_not_come_is_reported():
    no_events: asyncio.Queue[SeenEvent] = asyncio.Queue()
    runner = ScenarioRunner(Screen(io.StringIO()), Clock(), no_events, timeout_seconds=0.01)
    with pytest.raises(EventMissing, match="no Event clusterBBRNotReady within"):
        await runner.run([Scenario("Something fails.", (), "clusterBBRNotReady", ())])


def test_two_demos_at_once_use_different_folders(tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with claim_folder(environ) as first, claim_folder(environ) as second:
        assert first.path != second.path
    with claim_folder(environ) as again:
        assert again == first


def test_arguments_are_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--emission=all"], {})
    assert "unrecognized arguments: --emission=all" in capsys.readouterr().err


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
    column = header.index("MESSAGE")
    assert len(rows) > 1
    assert all(row.index("word") == column for row in rows)
    assert max(len(row) for row in rows) <= 150


def test_without_a_terminal_an_event_is_one_line():
    out = io.StringIO()
    Screen(out).event(LONG, NOON)
    assert out.getvalue().splitlines()[1].split(maxsplit=4)[4] == LONG.message
