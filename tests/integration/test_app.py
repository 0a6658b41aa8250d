"""
The process as it runs: what it answers, what it logs, how it ends.
"""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
import yaml
from prometheus_client.parser import text_string_to_metric_families

from reporter import app
from reporter.embedded.http.faults.faults import Hang
from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import connect
from reporter.runtime.clock import Clock
from reporter.settings import load_settings
from reporter.stages.evaluation.evaluation import Evaluation
from tests.integration.test_server import free
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


LEASES = "leases.coordination.k8s.io"
NAME = "productionstack-status-reporter"
BBR = ("deployments.apps", "kaito-system", "body-based-router")
WAIT_TIMEOUT = 15.0
"""
Seconds in which a process starts on a busy machine.
"""


@pytest_asyncio.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer() as server:
        server.load_example_stack()
        yield server


class RunningReporter:
    """
    One process; what it writes goes to *log*.
    """

    def __init__(self, log: Path, process: Process, session: aiohttp.ClientSession) -> None:
        self._log, self.process, self._session = log, process, session
        self.metrics_at = self.health_at = ""

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def lines(self) -> list[str]:
        return self.log.splitlines()

    @property
    def of_no_change(self) -> list[str]:
        return [line for line in self.lines if "reporter.states" not in line]

    async def get(self, path: str) -> tuple[int, str]:
        at = self.metrics_at if path == "/metrics" else self.health_at
        async with self._session.get(f"http://{at}{path}") as response:
            return response.status, await response.text()

    async def metric(self, name: str, **labels: str) -> float:
        _, text = await self.get("/metrics")
        families = text_string_to_metric_families(text)
        return sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == f"productionstack_status_reporter_{name}"
            and labels.items() <= sample.labels.items()
        )

    async def wait_ready(self) -> None:
        async def ready() -> bool:
            return (await self.get("/readyz"))[0] == 200

        await self.until(ready)

    async def until(self, condition: Callable, *, within: float = WAIT_TIMEOUT) -> None:
        """
        Of a page or the log; that nothing listens yet counts as no.
        """
        try:
            async with asyncio.timeout(within):
                while not await self._holds(condition):
                    assert self.process.returncode is None, self.log
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(self.log) from None

    async def _holds(self, condition: Callable) -> bool:
        try:
            found = condition()
            return bool(await found if asyncio.iscoroutine(found) else found)
        except aiohttp.ClientConnectionError:
            return False

    async def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        async with asyncio.timeout(6):
            return await self.process.wait()


def environment(**given: str) -> dict[str, str]:
    ours = ("STATUS_REPORTER_", "POD_", "DEPLOYMENT_NAME", "KUBECONFIG", "KUBERNETES_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**clean, **given}


@asynccontextmanager
async def running_reporter(
    server: EmbeddedServer, folder: Path, *flags: str, pod: str = "reporter-0"
) -> AsyncIterator[RunningReporter]:
    """
    Started, perhaps not ready yet. It is killed at the end unless it was stopped.
    """
    config = server.write_kubeconfig(folder / "kubeconfig")
    metrics, health = str(free()), str(free())
    command = (
        *(sys.executable, "-m", "reporter.cli", "run", f"--kubeconfig={config}"),
        f"--metrics-bind-address={metrics}",
        f"--health-probe-bind-address={health}",
        *flags,
    )
    environ = environment(POD_NAME=pod, POD_NAMESPACE="kaito-system")
    log = folder / f"{pod}.log"
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            *command, env=environ, stdin=DEVNULL, stdout=written, stderr=written
        )
    try:
        async with aiohttp.ClientSession() as session:
            reporter = RunningReporter(log, process, session)
            reporter.metrics_at, reporter.health_at = metrics, health
            yield reporter
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def run_to_exit(*argv: str) -> tuple[int | None, str]:
    """
    The exit code of a run that ends by itself, and what it said.
    """
    command = (sys.executable, "-m", "reporter.cli", "run", *argv)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment(), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(WAIT_TIMEOUT):
        out, err = await process.communicate()
    return process.returncode, (out + err).decode()


def events(server: EmbeddedServer) -> list[str]:
    found = server.cluster.list("events", "kube-system")
    return sorted(f"{event['reason']} x{event['count']}" for event in found)


def scale_to_zero(server: EmbeddedServer) -> None:
    server.cluster.patch(*BBR, {"spec": {"replicas": 0}})


def holder(server: EmbeddedServer) -> str | None:
    lease = server.cluster.get(LEASES, "kaito-system", NAME)
    found: str = lease["spec"].get("holderIdentity") or "" if lease else ""
    return found


# ------------------------------------------------------------ it does not start


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        ("--resync-seconds=soon", "--resync-seconds"),
        ("--lease-duration-seconds=5", "--lease-duration-seconds"),
    ],
)
async def test_a_bad_flag_ends_with_2_and_its_name(flag: str, named: str):
    code, said = await run_to_exit(flag)
    assert code == 2
    assert named in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "context"),
        ("clusters: [", ""),
    ],
)
async def test_a_bad_kubeconfig_ends_with_2_and_names_it(tmp_path: Path, text: str, told: str):
    path = tmp_path / "kubeconfig"
    path.write_text(text, encoding="utf-8")
    at = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    code, said = await run_to_exit(f"--kubeconfig={path}", *at)
    assert code == 2
    assert "kubeconfig" in said
    assert told in said
    assert "Traceback" not in said


async def test_a_kubeconfig_that_is_not_there_ends_with_2_and_the_flags_name(tmp_path: Path):
    code, said = await run_to_exit(f"--kubeconfig={tmp_path / 'none'}")
    assert (code, "--kubeconfig" in said) == (2, True)


@pytest.mark.parametrize("flag", ["metrics-bind-address", "health-probe-bind-address"])
async def test_a_taken_port_ends_with_2_and_what_to_do(
    server: EmbeddedServer, tmp_path: Path, flag: str
):
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    other = {"metrics-bind-address": "health-probe-bind-address"}.get(flag, "metrics-bind-address")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = await run_to_exit(
            f"--kubeconfig={config}", f"--{flag}=127.0.0.1:{port}", f"--{other}=0"
        )
    assert code == 2
    assert str(port) in said
    assert f"--{flag}" in said
    assert "Traceback" not in said


# ------------------------------------------------------------ it runs and ends


async def test_it_watches_says_and_gives_the_lease_back_on_sigterm(
    server: EmbeddedServer, tmp_path: Path
):
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        await reporter.until(lambda: holder(server))
        assert (holder(server) or "").startswith("reporter-0_")
        assert await reporter.metric("leader") == 1
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"], within=3)
        await reporter.until(lambda: "announced, was" in reporter.log)
        (event,) = server.cluster.list("events", "kube-system")
        assert event["reportingInstance"] == "reporter-0"
        begun = asyncio.get_running_loop().time()
        assert await reporter.stop() == 0
        assert asyncio.get_running_loop().time() - begun < 3 * 2
        assert holder(server) == ""
        assert "stopping" in reporter.log
        assert "Traceback" not in reporter.log


async def test_it_tells_at_start_how_many_reasons_are_on_and_off(
    server: EmbeddedServer, tmp_path: Path
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons:\n  clusterKedaNotReady:\n    enabled: false\n")
    async with running_reporter(server, tmp_path, f"--catalogue-overlay={overlay}") as reporter:
        await reporter.until(lambda: "reasons are on" in reporter.log)
        (line,) = (line for line in reporter.lines if "reasons are on" in line)
        on, every, off, pending = re.search(
            r"(\d+) of (\d+) reasons are on, (\d+) switched off, (\d+) cannot", line
        ).groups()
        assert (int(every), int(off)) == (25, 1)
        assert int(on) + int(off) + int(pending) == int(every)
        assert line == reporter.lines[0]


async def test_every_page_answers(server: EmbeddedServer, tmp_path: Path):
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.wait_ready()
        for path in ("/livez", "/healthz", "/readyz"):
            assert await reporter.get(path) == (200, "ok\n")
        status = json.loads((await reporter.get("/status"))[1])
        assert status["leading"] is True
        assert status["kinds"]["deployments"] == "watched"
        assert {s["layer"] for s in status["subjects"]} >= {"cluster"}
        assert await reporter.metric("watch_up", kind="deployments.apps") == 1
        assert await reporter.metric("objects", kind="deployments.apps") > 5
        assert await reporter.metric("unknown") == 0
        assert await reporter.metric("event_loop_lag_seconds_count") > 0


async def test_it_is_ready_only_after_every_kind_was_listed(
    server: EmbeddedServer, tmp_path: Path
):
    server.faults.add(Hang(), method="GET", path=r"^/api/v1/pods\?")
    flags = ("--leader-elect=false", "--resync-seconds=1")
    async with running_reporter(server, tmp_path, *flags) as reporter:
        await reporter.until(lambda: any("/pods?" in path for _, path in server.requests))
        await reporter.until(lambda: any("/deployments?" in path for _, path in server.requests))
        begun = asyncio.get_running_loop().time()
        scale_to_zero(server)
        while asyncio.get_running_loop().time() - begun < 1:
            assert await reporter.get("/readyz") == (503, "not every kind was listed yet\n")
            assert (await reporter.get("/livez"))[0] == 200
            await asyncio.sleep(0.1)
        assert events(server) == []
        server.faults.clear()
        await reporter.wait_ready()
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])


async def test_without_election_it_speaks_at_once_and_has_no_lease(
    server: EmbeddedServer, tmp_path: Path
):
    scale_to_zero(server)
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        assert await reporter.metric("leader") == 1
        assert holder(server) == ""
        assert await reporter.stop(signal.SIGINT) == 0
    assert not any("/leases" in path for _, path in server.requests)


async def test_of_two_replicas_one_speaks_and_both_are_ready(
    server: EmbeddedServer, tmp_path: Path
):
    async with running_reporter(server, tmp_path, pod="a") as first:
        await first.until(lambda: holder(server))
        async with running_reporter(server, tmp_path, pod="b") as second:
            await second.wait_ready()
            await second.until(lambda: "standing by" in second.log)
            scale_to_zero(server)
            await second.until(lambda: events(server) == ["clusterBBRNotReady x1"])
            (event,) = server.cluster.list("events", "kube-system")
            assert event["reportingInstance"] == "a"
            assert [await r.metric("leader") for r in (first, second)] == [1, 0]
            found = [
                await r.metric("finding", reason="clusterBBRNotReady") for r in (first, second)
            ]
            assert found == [1, 1]
            assert await second.metric("event_writes_total") == 0
            assert await first.stop() == 0
            await second.until(lambda: (holder(server) or "").startswith("b_"), within=6)

            async def leads() -> bool:
                return await second.metric("leader") == 1

            await second.until(leads)
            assert events(server) == ["clusterBBRNotReady x1"]


async def test_a_killed_process_goes_on_with_its_event_when_it_is_started_again(
    server: EmbeddedServer, tmp_path: Path
):
    flags = ("--leader-elect=false", "--settle-seconds=1")
    scale_to_zero(server)
    async with running_reporter(server, tmp_path, *flags) as first:
        await first.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        first.process.kill()
        await first.process.wait()
    async with running_reporter(server, tmp_path, *flags) as second:
        await second.until(lambda: "announced, was" in second.log)
        brisk = timedelta(milliseconds=100)
        controllers = asyncio.create_task(server.run_controllers(start=brisk))
        server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
        ready = ["clusterBBRNotReady x1", "clusterReady x1"]
        await second.until(lambda: events(server) == ready)
        assert await second.metric("event_writes_total") == 1
        controllers.cancel()


async def test_a_bug_in_one_part_ends_all_and_gives_the_lease_back(
    server: EmbeddedServer, tmp_path: Path
):
    api = await connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})
    nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
    settings = load_settings(nowhere, {"POD_NAMESPACE": "kaito-system"}, hostname="laptop")
    wired = app.Reporter(settings, DEFAULT_CATALOGUE, api, Clock())

    class Broken:
        def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None:
            if wired._leadership.is_leader:
                raise RuntimeError("a bug")

    wired._controller._observers = (Broken(),)
    running = asyncio.create_task(wired.run())
    async with asyncio.timeout(WAIT_TIMEOUT):
        while not holder(server):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        scale_to_zero(server)
        with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="a bug")):
            await running
    assert holder(server) == ""
    await api.close()


async def test_a_server_that_hangs_does_not_keep_it_from_ending(
    server: EmbeddedServer, tmp_path: Path
):
    server.faults.add(Hang())
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.until(lambda: any("/leases/" in path for _, path in server.requests))
        assert (await reporter.get("/livez"))[0] == 200
        assert await reporter.stop() == 0
        assert "Traceback" not in reporter.log


# ------------------------------------------------------------ what it logs


async def test_missing_rights_are_one_table_and_it_runs_with_what_it_has(
    server: EmbeddedServer, tmp_path: Path
):
    for verb in ("list", "watch"):
        server.deny(verb, "", "pods")
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.until(lambda: "UNKNOWN REASONS" in reporter.log)
        await reporter.wait_ready()
        (row,) = (line for line in reporter.lines if "list, watch  pods" in line)
        assert "ERROR" in row
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])


async def test_no_secret_and_no_line_per_pass_at_any_level(server: EmbeddedServer, tmp_path: Path):
    token = "s3cr3t-" + "x" * 40
    server.tokens[token] = "reporter"
    server.deny("list", "", "events")
    flags = ("--zap-log-level=debug", "--resync-seconds=1")
    async with running_reporter(server, tmp_path, *flags) as reporter:
        await reporter.wait_ready()
        config = yaml.safe_load((tmp_path / "kubeconfig").read_text("utf-8"))
        assert config["users"][0]["user"]["token"] == token
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        await reporter.until(lambda: "UNKNOWN REASONS" in reporter.log)
        quiet = len(reporter.of_no_change)
        before = await reporter.metric("pass_duration_seconds_count")

        async def passed() -> bool:
            return await reporter.metric("pass_duration_seconds_count") > before + 1

        await reporter.until(passed)
        assert len(reporter.of_no_change) == quiet
        server.tokens.clear()
        server.tokens["another"] = "reporter"
        server.end_watches()
        await reporter.until(lambda: "401" in reporter.log or "Unauthorized" in reporter.log)
        assert await reporter.stop() == 0
        pages = reporter.log
    assert token not in pages
    assert "s3cr3t" not in pages


async def test_json_lines_parse_one_by_one_whatever_others_write(
    server: EmbeddedServer, tmp_path: Path
):
    hostile = 'x\n{"level":"error","message":"forged"}\r\x1b[31m\u2028token=abcdefgh12345678'
    async with running_reporter(
        server, tmp_path, "--log-format=json", "--leader-elect=false"
    ) as reporter:
        await reporter.wait_ready()
        broken = server.cluster.get(*BBR)
        assert broken
        server.cluster.patch(*BBR, {"spec": {"replicas": 0}})
        conditions = [
            {
                "type": "Progressing",
                "status": "False",
                "reason": "ProgressDeadlineExceeded",
                "message": hostile,
            }
        ]
        other = ("deployments.apps", "keda", "keda-operator")
        status = {"status": {"conditions": conditions, "readyReplicas": 0, "availableReplicas": 0}}
        server.cluster.patch(*other, status, subresource="status")
        await reporter.until(lambda: '"clusterBBRNotReady"' in reporter.log)
        await reporter.until(lambda: '"clusterKedaNotReady"' in reporter.log)
        assert await reporter.stop() == 0
        lines = [json.loads(line) for line in reporter.lines]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    assert not any(line["message"] == "forged" for line in lines)
    (told,) = (line for line in lines if line.get("state") == "announced")
    assert (told["reason"], told["was"]) == ("clusterBBRNotReady", "clear")
    assert "abcdefgh12345678" not in reporter.log


async def test_a_server_that_is_gone_is_said_once_raises_nothing_and_is_followed_again(
    server: EmbeddedServer, tmp_path: Path
):
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.wait_ready()
        await server.stop()
        await reporter.until(lambda: "discovery fails" in reporter.log)
        status = json.loads((await reporter.get("/status"))[1])
        assert status["subjects"]
        await server.start()
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"], within=30)
        assert (await reporter.get("/livez"))[0] == 200
