"""A CRD of an earlier release, which has no field for the silence of an episode."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import pytest

from devcluster.server import DevCluster
from reporter.kinds.health_events import HealthEvent
from reporter.kube.client import RestClient
from reporter.kube.decoding import Json
from reporter.kube.object_client import ObjectClient
from reporter.model.silences import SilenceFile
from tests.integration.announcing.publisher_fixture import ISTIO, lines
from tests.integration.history.store_fixture import StoreFixture, own_parts, running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import HOUR, an_active_verdict
from tests.support.silences import a_silence


__all__ = ["api", "server"]

NAMED = "the CRD healthevents.reporter.productionstack.kaito.sh has no field for the silence"


class OfAnOlderCrd(ObjectClient[HealthEvent]):
    """
    Drops the field on its way: the API server in memory does not prune what a CRD does not have.
    """

    prunes = True

    async def patch(self, found: HealthEvent, patch: Json, *, version: str) -> HealthEvent:
        status = dict(patch["status"])
        if self.prunes:
            status.pop("silenced", None)
        return await super().patch(found, {**patch, "status": status}, version=version)


PARTS = partial(own_parts, client_type=OfAnOlderCrd)


def silence(store: StoreFixture, by: str) -> None:
    until = store.clock.now().replace(microsecond=0) + HOUR
    found = a_silence("clusterIstio", until=until, by=by)
    store.events.store.record_silence_file(SilenceFile("/silences.yaml", (found,)))
    store.events.run_pass()


def shown_by(store: StoreFixture) -> str:
    (found,) = store.existing
    return str(found.get("status", {}).get("silenced", {}).get("by", ""))


@asynccontextmanager
async def silenced_store(server: DevCluster, api: RestClient) -> AsyncIterator[StoreFixture]:
    """Run a store with one episode, whose silence has been written."""
    async with running_store(server, api, parts=PARTS) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        silence(store, by="alice")
        await store.until_result("patched")
        yield store


async def test_the_silence_is_written_once_and_the_crd_to_upgrade_is_named(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with silenced_store(server, api) as store:
        for _ in range(3):
            await store.advance(61)
            plan = store.plan.make(now=store.clock.now())
            assert plan is not None
            assert plan.patches == ()
        assert (store.report.results["patched"], shown_by(store)) == (1, "")
        assert len(lines(caplog, NAMED)) == 1
        assert store.is_up


async def test_another_silence_is_shown_once_the_crd_is_upgraded(
    server: DevCluster, api: RestClient, monkeypatch: pytest.MonkeyPatch
):
    async with silenced_store(server, api) as store:
        monkeypatch.setattr(OfAnOlderCrd, "prunes", False)
        silence(store, by="bob")
        store.clock.advance(timedelta(minutes=2))
        store.events.run_pass()
        await store.events.until(lambda: shown_by(store) == "bob", within=30)
