"""The log of the process."""

import json
from pathlib import Path

import yaml

from devcluster.server import DevCluster
from tests.integration.process.reporter_process import (
    BBR,
    RunningReporter,
    events,
    running_reporter,
    scale_to_zero,
    server,
)


__all__ = ["server"]


async def test_missing_permissions_are_one_table_and_it_runs_with_what_it_has(
    server: DevCluster, tmp_path: Path
):
    for verb in ("list", "watch"):
        server.deny(verb, "", "pods")
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.until(lambda: "UNKNOWN REASONS" in reporter.log)
        await reporter.until(lambda: "list, watch  pods" in reporter.log)
        await reporter.wait_ready()
        (row,) = (line for line in reporter.lines if "list, watch  pods" in line)
        assert "ERROR" in row
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])


async def test_no_secret_and_no_line_per_pass_at_any_level(server: DevCluster, tmp_path: Path):
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
        await reporter.until(lambda: two_passes_without_a_line(reporter))
        server.tokens.clear()
        server.tokens["another"] = "reporter"
        server.end_watches()
        await reporter.until(lambda: "401" in reporter.log or "Unauthorized" in reporter.log)
        assert await reporter.stop() == 0
        pages = reporter.log
    assert token not in pages
    assert "s3cr3t" not in pages


async def two_passes_without_a_line(reporter: RunningReporter) -> bool:
    """Return whether nothing was logged in two passes: other lines may come after the start."""
    lines = reporter.lines_without_states
    before = await reporter.metric("pass_duration_seconds_count")

    async def passed() -> bool:
        return await reporter.metric("pass_duration_seconds_count") >= before + 2

    await reporter.until(passed)
    return reporter.lines_without_states == lines


async def test_json_lines_parse_one_by_one_whatever_others_write(
    server: DevCluster, tmp_path: Path
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
    states = [line for line in lines if line.get("reason") == "clusterBBRNotReady"]
    (announced,) = (line for line in states if line.get("state") == "announced")
    assert announced["was"] == "clear"
    assert "abcdefgh12345678" not in reporter.log


async def test_a_server_that_is_gone_is_logged_once_raises_nothing_and_is_watched_again(
    server: DevCluster, tmp_path: Path
):
    async with running_reporter(server, tmp_path, "--leader-elect=false") as reporter:
        await reporter.wait_ready()
        await server.stop()
        await reporter.until(lambda: "discovery fails" in reporter.log)
        status = json.loads((await reporter.get("/status"))[1])
        assert status["subjects"]
        await server.start()
        scale_to_zero(server)
        await reporter.until(lambda: events(server) == ["clusterBBRNotReady x1"])
        assert (await reporter.get("/livez"))[0] == 200
