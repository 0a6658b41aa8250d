"""The permissions that a process shows."""

import json
from pathlib import Path

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from tests.integration.process.reporter_process import (
    RunningReporter,
    running_reporter,
    scale_to_zero,
    server,
)


__all__ = ["server"]

UNABLE = status_response(503, "ServiceUnavailable", "unable")


async def permissions(reporter: RunningReporter) -> dict:
    return json.loads((await reporter.get("/status"))[1])["permissions"]


async def test_reviews_that_fail_are_unknown_in_status_and_metrics_and_hold_up_nothing(
    server: DevCluster, tmp_path: Path
):
    server.faults.add(UNABLE, path="selfsubjectaccessreviews")
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.wait_ready()
        await reporter.until(lambda: "permissions could not be checked" in reporter.log)
        found = await permissions(reporter)
        assert (found["reviewedAt"], found["missing"]) == (None, {})
        assert found["unknown"][0] == "create events in kube-system"
        assert await reporter.metric("unknown_rights") == len(found["unknown"])
        assert await reporter.metric("missing_rights") == 0


async def test_a_permission_that_is_taken_away_is_shown_as_soon_as_it_is_missed(
    server: DevCluster, tmp_path: Path
):
    async with running_reporter(server, tmp_path) as reporter:
        await reporter.until(lambda: "permissions that are needed are granted" in reporter.log)
        found = await permissions(reporter)
        assert (found["missing"], found["unknown"]) == ({}, [])
        server.deny("create", "", "events")
        scale_to_zero(server)

        async def is_shown() -> bool:
            return await reporter.metric("missing_rights", verb="create", resource="events") == 1

        await reporter.until(is_shown)
        assert await reporter.metric("missing_rights") == 1
        assert (await permissions(reporter))["missing"] == {
            "create events in kube-system": ["every reason: no Event can be written"]
        }
