"""
A reporter that starts during an announced stall calls the model neither ready nor available.

Nobody can see the stall at that moment: no pod here serves a metrics page. What is known is in the Event.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.kube.announced import Announced, AnnouncedFinding, AnnouncedTrouble
from reporter.kube.event_format import encode_event
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Layer, Reason, TroubleKind
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import format_micro_time
from reporter.model.verdicts import InvolvedObject
from reporter.process.clock import Clock
from tests.integration.process.reporter_process import RunningReporter, running_reporter
from tests.integration.status.asking import Ended, ask, server, wait


__all__ = ["server"]

NAME = "productionstack-status-reporter"
STALLED = FindingKey(
    Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen"), Reason("inferencesetEngineStalled")
)
LEADER, FOLLOWER = ("--leader-elect=false",), ("--lease-duration-seconds=60",)
ROLES = pytest.mark.parametrize("role", [LEADER, FOLLOWER], ids=["leader", "follower"])
CONDITIONS = ("--for=ready", "--for=available")


def announce_stall(server: DevCluster, *, ago: timedelta = timedelta(minutes=10)) -> datetime:
    """Store the Event of an earlier reporter; return since when that has seen the stall."""
    now = Clock().now()
    begun, seen = now - ago, now - ago - timedelta(minutes=2)
    namespace = server.cluster.get("namespaces", "", "team-a")
    assert namespace is not None
    trouble = AnnouncedTrouble(
        ("pods", "team-a", "qwen-7rk2p-0"), "Stalled", TroubleKind.LOST, is_out=True, seen=seen
    )
    record = EventRecord(
        key=STALLED,
        type=EventType.WARNING,
        involved_object=InvolvedObject("v1", "Namespace", "team-a", namespace["metadata"]["uid"]),
        episode_start=begun.replace(microsecond=0),
        message="InferenceSet team-a/qwen: its engine has stalled.",
        content_digest="d1",
        count=3,
        first_timestamp=begun,
        last_timestamp=now - timedelta(minutes=1),
        announced=Announced(AnnouncedFinding((trouble,))),
    )
    server.cluster.upsert(encode_event(record, instance="reporter-0"))
    return seen


def let_another_lead(server: DevCluster) -> None:
    now = Clock().now()
    server.cluster.upsert(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME, "namespace": "kaito-system"},
            "spec": {
                "holderIdentity": "reporter-9_another",
                "leaseDurationSeconds": 3600,
                "acquireTime": format_micro_time(now),
                "renewTime": format_micro_time(now),
                "leaseTransitions": 1,
            },
        }
    )


def starting(server: DevCluster, folder: Path, role: Sequence[str]):
    if role is FOLLOWER:
        let_another_lead(server)
    return running_reporter(server, folder, "--resync-seconds=1", *role)


def url(reporter: RunningReporter) -> str:
    return f"--from=http://{reporter.health_at}"


async def wait_briefly(reporter: RunningReporter, condition: str) -> Ended:
    return await wait("team-a/qwen", condition, url(reporter), "--timeout=3s")


async def status(reporter: RunningReporter) -> dict[str, Any]:
    """Return the InferenceSet as the status shows it."""
    shown = await ask("status", "team-a/qwen", url(reporter), "-o", "json")
    (found,) = json.loads(shown.out)["namespaces"][0]["inferenceSets"]
    return found


@ROLES
async def test_without_a_stall_it_is_ready_although_no_page_can_be_read(
    server: DevCluster, tmp_path: Path, role
):
    async with starting(server, tmp_path, role) as reporter:
        await reporter.wait_ready()
        assert [(await wait_briefly(reporter, each)).code for each in CONDITIONS] == [0, 0]


@ROLES
async def test_wait_is_not_met_over_a_restart_amid_an_announced_stall(
    server: DevCluster, tmp_path: Path, role
):
    announce_stall(server)
    async with starting(server, tmp_path, role) as reporter:
        await reporter.wait_ready()
        for condition in CONDITIONS:
            ended = await wait_briefly(reporter, condition)
            assert (ended.code, "Unknown" in ended.out) == (3, True), ended
        assert await reporter.metric("leader") == (role is LEADER)
        found = await status(reporter)
        assert (found["state"], found["lastKnown"]) == ("Unknown", "Failed")
        assert found.get("available") is None
        assert found["blocking"]["reason"] == STALLED.reason


@ROLES
async def test_the_metric_tells_since_when_the_stall_was_seen_first(
    server: DevCluster, tmp_path: Path, role
):
    seen = announce_stall(server)
    async with starting(server, tmp_path, role) as reporter:
        await reporter.wait_ready()
        await reporter.wait_for_metric(
            pytest.approx(seen.timestamp(), abs=0.001),
            "finding_since_timestamp_seconds",
            reason=STALLED.reason,
        )


@ROLES
async def test_until_events_can_be_read_nothing_is_known_to_be_ready(
    server: DevCluster, tmp_path: Path, role
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    fault = server.faults.add(unable, method="GET", path="/events")
    async with starting(server, tmp_path, role) as reporter:
        await reporter.wait_ready()
        for condition in CONDITIONS:
            assert (await wait_briefly(reporter, condition)).code == 3
        found = await status(reporter)
        assert (found["state"], found["blocking"]["code"]) == ("Unknown", "EarlierEventsUnread")
        assert "since" not in {k for k, v in found["blocking"].items() if v is not None}
        assert (
            "events: Earlier Events have not been read yet" in (await reporter.get("/readyz"))[1]
        )
        server.faults.clear(fault)
        ended = await wait("team-a/qwen", url(reporter), "--timeout=50s")
        assert ended.code == 0


async def test_events_that_may_not_be_read_leave_everything_unknown(
    server: DevCluster, tmp_path: Path
):
    server.deny("list", "", "events", "kube-system")
    async with starting(server, tmp_path, FOLLOWER) as reporter:
        await reporter.wait_ready()
        found = await status(reporter)
        assert (found["state"], found["blocking"]["code"]) == ("Unknown", "EarlierEventsUnread")
        assert "list events" in found["blocking"]["message"]


async def test_trouble_seen_before_events_are_read_has_no_beginning_yet(
    server: DevCluster, tmp_path: Path
):
    server.cluster.patch(
        "deployments.apps", "kaito-system", "kaito-workspace", {"spec": {"replicas": 0}}
    )
    server.deny("list", "", "events", "kube-system")
    async with starting(server, tmp_path, FOLLOWER) as reporter:
        await reporter.wait_ready()
        shown = await ask("status", "cluster", url(reporter), "-o", "json")
        found = json.loads(shown.out)["cluster"]
        assert (found["state"], found["blocking"].get("since")) == ("Failed", None)
        page = (await reporter.get("/metrics"))[1]
        assert "finding_since_timestamp_seconds{" not in page
