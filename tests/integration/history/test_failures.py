"""Writes that fail, and a fault of the program."""

import asyncio

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
from reporter.kube.client import RestClient
from reporter.model.observations import WatchLost
from tests.integration.announcing.publisher_fixture import (
    BBR,
    ISTIO,
    KAITO,
    MANY,
    MODELS,
    PODS_OF,
    lines,
)
from tests.integration.history.store_fixture import running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import NOON, an_active_verdict


__all__ = ["api", "server"]

INVALID = FaultResponse(
    422,
    msgspec.json.encode(
        invalid("", "HealthEvent", "one", [FieldError("spec.message", "too long")]).status
    ),
    {"Content-Type": "application/json"},
)
POSTS = {"method": "POST", "path": "/healthevents"}
SETTLED = 31


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (status_response(403, "Forbidden", "no"), "refused"),
        (
            status_response(
                400, "Invalid", 'admission webhook "policy.example" denied the request: no'
            ),
            "refused",
        ),
        (INVALID, "invalid"),
        (status_response(503, "ServiceUnavailable", "down"), "failed"),
        (overloaded_response(), "throttled"),
    ],
    ids=["right", "admission", "schema", "server", "overload"],
)
async def test_create_that_fails_is_counted_tried_again_and_delays_no_event(
    server: DevCluster, api: RestClient, answer, result: str
):
    async with running_store(server, api) as store:
        fault = server.faults.add(answer, **POSTS)
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_result(result)
        assert not store.is_up
        store.events.set_verdicts(an_active_verdict(KAITO))
        await store.events.until(
            lambda: "(also: clusterKaito)" in store.events.events[0]["message"]
        )
        server.faults.clear(fault)
        for _ in range(3):
            await store.advance(61)
        await store.events.until(lambda: len(store.existing) == 1, within=30)
        await store.events.until(lambda: store.is_up, within=30)


async def test_each_cause_is_logged_once_until_all_is_written(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with running_store(server, api, catalogue=MANY, subjects=MODELS) as store:
        server.deny("create", "reporter.productionstack.kaito.sh", "healthevents")
        store.events.set_verdicts(*map(an_active_verdict, PODS_OF[:4]))
        await store.until_result("refused", 4)
        assert len(lines(caplog, "HealthEvents are not written")) == 1


async def test_write_that_hangs_delays_no_other_and_no_event(server: DevCluster, api: RestClient):
    async with running_store(server, api, catalogue=MANY, subjects=MODELS) as store:
        server.faults.add(Hang(), times=3, **POSTS)
        store.events.set_verdicts(*map(an_active_verdict, PODS_OF[:5]))
        await store.events.until(lambda: len(store.events.events) == 5, within=30)
        await store.events.until(lambda: len(store.existing) == 2, within=30)


async def test_write_ends_with_the_lease(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        server.faults.add(Hang(), **POSTS)
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.events.wait_for_events("clusterIstio x1")
        store.events.leadership.until = asyncio.get_running_loop().time() + 1
        await store.until_result("failed")
        assert not store.is_up
        store.events.run_pass()
        await asyncio.sleep(1)
        assert store.report.results == {"failed": 1}, "it waits for its back-off"


async def test_patch_of_an_object_that_somebody_changed_is_made_again(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        name = store.existing[0]["metadata"]["name"]
        changed = {"status": {"faultRemediated": True}}
        server.cluster.patch(
            store.kind.group_resource, "kaito-system", name, changed, subresource="status"
        )
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await store.until_result("conflict")
        assert store.is_up, "a conflict is no failure"
        store.listed()
        await store.advance(2)
        await store.until_phases("clusterIstio Resolved")
        assert store.existing[0]["status"]["faultRemediated"] is True


async def test_object_that_was_deleted_unseen_is_made_again(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        name = store.existing[0]["metadata"]["name"]
        server.cluster.delete(store.kind.group_resource, "kaito-system", name)
        store.events.set_verdicts(an_active_verdict(BBR))
        await store.until_result("gone")
        await store.until_phases("clusterIstio Active")


async def test_store_is_down_while_its_watch_is_lost(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        store.objects.set_watch_state(store.kind, WatchLost(NOON, "forbidden"))
        assert not store.is_up


def _no_plan(*, now: object) -> None:
    raise RuntimeError("the plan is broken")


async def test_a_fault_of_the_program_is_logged_once_and_ends_no_task(
    server: DevCluster,
    api: RestClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    async with running_store(server, api) as store:
        monkeypatch.setattr(store.plan, "make", _no_plan)
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_result("failed")
        await store.events.wait_for_events("clusterIstio x1")
        assert len(lines(caplog, "HealthEvents cannot be written")) == 1
        assert not store.is_up
        caplog.clear()
