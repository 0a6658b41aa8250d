"""The findings on which alerts fire, over a restart and a change of leader."""

from pathlib import Path

from devcluster.server import DevCluster
from tests.integration.process.reporter_process import (
    BBR,
    RunningReporter,
    events,
    running_reporter,
    server,
    value_of,
)


__all__ = ["server"]

GONE = "clusterBBRNotReady"
HOLD = "--startup-grace-seconds=5"
"""The time for which a process holds what is missing, unless it knows it from an Event."""


async def shown(reporter: RunningReporter) -> tuple[bool, bool]:
    """Return whether a page says that findings are complete, and whether it has that of BBR."""
    _, page = await reporter.get("/metrics")
    complete = value_of(page, "findings_complete") == 1
    return complete, value_of(page, "finding", reason=GONE, severity="warning") == 1


async def until_complete(reporter: RunningReporter) -> tuple[bool, bool]:
    seen: list[tuple[bool, bool]] = []

    async def is_complete() -> bool:
        try:
            seen.append(await shown(reporter))
        except OSError:
            return False  # it does not listen yet
        return seen[-1][0]

    await reporter.until(is_complete)
    return seen[-1]


async def test_a_new_process_shows_what_was_announced_on_its_first_complete_page(
    server: DevCluster, tmp_path: Path
):
    server.cluster.delete(*BBR)
    async with running_reporter(server, tmp_path, "--leader-elect=false", HOLD) as first:
        await first.until(lambda: events(server) == [f"{GONE} x1"])
        assert await until_complete(first) == (True, True)
        assert await first.stop() == 0
    async with running_reporter(server, tmp_path, "--leader-elect=false", HOLD) as second:
        assert await until_complete(second) == (True, True)


async def test_what_is_held_anew_makes_no_page_complete_before_it_is_found(
    server: DevCluster, tmp_path: Path
):
    """No Event tells of it, as after a day without a reporter."""
    server.cluster.delete(*BBR)
    async with running_reporter(server, tmp_path, "--leader-elect=false", HOLD) as reporter:
        await reporter.wait_ready()
        assert await until_complete(reporter) == (True, True)


async def test_only_the_leader_shows_findings_and_its_successor_shows_them_too(
    server: DevCluster, tmp_path: Path
):
    server.cluster.patch(*BBR, {"spec": {"replicas": 0}})
    async with running_reporter(server, tmp_path, pod="a") as first:
        assert await until_complete(first) == (True, True)
        async with running_reporter(server, tmp_path, pod="b") as second:
            await second.until(lambda: "standing by" in second.log)
            await second.wait_for_metric(1, "reason_state", state="active", reason=GONE)
            assert await shown(second) == (False, False)
            assert await first.stop() == 0
            assert await until_complete(second) == (True, True)
