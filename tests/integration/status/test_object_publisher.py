"""Writes to status objects, their moments, and those that fail."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from devcluster.http.faults.rules import (
    FaultResponse,
    Hang,
    overloaded_response,
    status_response,
)
from devcluster.schema.api_errors import FieldError, invalid
from devcluster.server import DevCluster
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES
from reporter.kube.client import RestClient
from reporter.model.observations import NotServed
from tests.integration.announcing.publisher_fixture import lines
from tests.integration.kube.test_elector import api, server
from tests.integration.status.object_publisher_fixture import running_object_publisher
from tests.support.rollups import BAD_IMAGE
from tests.support.status_objects import STATUSES, condition


__all__ = ["api", "server"]

INVALID = FaultResponse(
    422,
    msgspec.json.encode(
        invalid("", "ProductionStackStatus", "package", [FieldError("status.state", "bad")]).status
    ),
    {"Content-Type": "application/json"},
)
MINUTE = timedelta(minutes=1)


def patches(server: DevCluster) -> int:
    return sum(method == "PATCH" for method, _ in server.requests)


# ------------------------------------------------------------ when


async def test_nothing_is_written_before_the_first_pass_nor_by_a_follower(
    server: DevCluster, api: RestClient
):
    async with running_object_publisher(server, api) as fixture:
        fixture.create("package")
        await fixture.settle_unseen()
        assert patches(server) == 0
        fixture.leadership.release()
        fixture.rollups.show()
        await fixture.settle_unseen()
        assert patches(server) == 0
        fixture.leadership.acquire()
        await fixture.settle()
        await fixture.until_written("Current", 1)


async def test_a_change_is_written_at_once_and_only_once(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create("package")
        await fixture.settle()
        await fixture.until_written("Current", 1)
        fixture.rollups.show(BAD_IMAGE)
        await fixture.until_written("Failed", 2)
        assert condition(fixture.status(), "Stalled")["status"] == "True"
        fixture.deliver()
        fixture.rollups.show(BAD_IMAGE)
        await fixture.advance(MINUTE)
        assert fixture.results == {"written": 2}
        fixture.rollups.show()
        await fixture.until(lambda: fixture.state() == "Current")
        assert "blocking" not in fixture.status()


async def test_the_time_of_evaluation_is_renewed_every_five_minutes(
    server: DevCluster, api: RestClient
):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create("package")
        await fixture.settle()
        await fixture.until(lambda: fixture.state() == "Current")
        first = fixture.status()["lastEvaluationTime"]
        await fixture.advance(4 * MINUTE)
        fixture.rollups.show()
        await fixture.advance(0)
        assert fixture.status()["lastEvaluationTime"] == first
        await fixture.advance(2 * MINUTE)
        await fixture.until(lambda: fixture.status()["lastEvaluationTime"] > first)
        await fixture.until_written("Current", 2)
        await fixture.advance(6 * MINUTE)
        assert fixture.results == {"written": 2}, "there was no evaluation since"


async def test_a_status_that_somebody_changed_is_repaired(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create("package")
        await fixture.settle()
        await fixture.until(lambda: fixture.state() == "Current")
        changed = {"status": {"state": "Failed", "conditions": None}}
        server.cluster.patch(STATUSES, "team-m", "package", changed, subresource="status")
        fixture.deliver()
        await fixture.until(lambda: fixture.state() == "Current")
        assert len(fixture.status()["conditions"]) == 5


async def test_writes_are_limited_to_twenty_at_once_and_two_a_second(
    server: DevCluster, api: RestClient
):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create(*(f"package-{number}" for number in range(26)))
        await fixture.settle()
        await fixture.until(lambda: fixture.results["written"] == 20)
        await fixture.advance(0)
        assert patches(server) == 20
        await fixture.advance(1)
        await fixture.until(lambda: fixture.results["written"] == 22)
        await fixture.advance(60)
        await fixture.until(lambda: fixture.results["written"] == 26)


# ------------------------------------------------------------ failures


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (status_response(409, "Conflict", "changed"), "conflict"),
        (status_response(403, "Forbidden", "no"), "refused"),
        (INVALID, "invalid"),
        (status_response(503, "ServiceUnavailable", "down"), "failed"),
        (overloaded_response(), "throttled"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_write_that_failed_is_counted_and_tried_again_after_a_pause(
    server: DevCluster, api: RestClient, answer, result: str
):
    async with running_object_publisher(server, api) as fixture:
        fault = server.faults.add(answer, method="PATCH", path="/package/status")
        fixture.rollups.show()
        fixture.create("package", "other")
        await fixture.settle()
        await fixture.until(lambda: fixture.state("other") == "Current")
        await fixture.until(lambda: fixture.results[result] == 1)
        await fixture.advance(0)
        assert (fixture.results[result], fixture.failing) == (1, 1)
        await fixture.advance(2)
        await fixture.until(lambda: fixture.results[result] == 2)
        server.faults.clear(fault)
        await fixture.advance(5)
        await fixture.until(lambda: fixture.state() == "Current")
        await fixture.until(lambda: fixture.failing == 0)


async def test_what_somebody_changed_meanwhile_is_written_once_the_watch_shows_it(
    server: DevCluster, api: RestClient
):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create("package")
        changed = {"metadata": {"labels": {"changed": "yes"}}}
        server.cluster.patch(STATUSES, "team-m", "package", changed)
        await fixture.settle()
        await fixture.until(lambda: fixture.results["conflict"] == 1)
        fixture.deliver()
        await fixture.until_written("Current", 1)
        assert (fixture.results["conflict"], fixture.failing) == (1, 0)


async def test_each_cause_is_logged_once_until_a_write_succeeds(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with running_object_publisher(server, api) as fixture:
        server.deny("patch", "reporter.productionstack.kaito.sh", "productionstackstatuses/status")
        fixture.rollups.show()
        fixture.create(*(f"package-{number}" for number in range(5)))
        await fixture.settle()
        await fixture.until(lambda: fixture.results["refused"] == 5)
        (line,) = lines(caplog, "status objects are not written")
        assert "productionstackstatuses" in line


async def test_an_object_that_was_deleted_is_forgotten(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        fixture.rollups.show()
        fixture.create("package")
        server.cluster.delete(STATUSES, "team-m", "package")
        await fixture.settle()
        await fixture.until(lambda: fixture.results["gone"] == 1)
        assert fixture.failing == 1
        fixture.deliver()
        await fixture.until(lambda: fixture.failing == 0)


async def test_a_write_that_hangs_delays_no_other(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        server.faults.add(Hang(), method="PATCH", path="/package/status")
        fixture.rollups.show()
        fixture.create("package", "other")
        await fixture.settle()
        await fixture.until(lambda: fixture.state("other") == "Current")
        assert fixture.state() == ""


async def test_a_write_ends_with_the_lease(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        server.faults.add(Hang(), method="PATCH", path="/package/status", times=1)
        fixture.leadership.until = asyncio.get_running_loop().time() + 1
        fixture.rollups.show()
        fixture.create("package")
        await fixture.settle()
        await fixture.until(lambda: fixture.results["failed"] == 1)
        assert fixture.failing == 1


async def test_nothing_is_written_while_the_crd_is_not_there(server: DevCluster, api: RestClient):
    async with running_object_publisher(server, api) as fixture:
        fixture.create("package")
        fixture.objects.set_watch_state(PRODUCTION_STACK_STATUSES, NotServed())
        assert fixture.objects.objects == {}


async def test_a_fault_of_the_program_is_logged_once_and_ends_no_task(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with running_object_publisher(server, api) as fixture:
        fixture.create("one", "other")
        fixture.rollups.broken = True
        await fixture.until(lambda: fixture.results["failed"] == 1)
        assert len(lines(caplog, "status objects cannot be written")) == 1
        assert fixture.failing == 2, "as none of them is written"
        fixture.leadership.release()
        assert fixture.failing == 0
        caplog.clear()
