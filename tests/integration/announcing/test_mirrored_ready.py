"""The mirror of a Ready, which nothing repeats: it waits, or is forgotten for a newer Event."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from devcluster.http.faults.rules import bad_gateway_response
from devcluster.server import DevCluster
from reporter.catalogue.entries import HoldDurations
from reporter.kube.client import RestClient
from reporter.model.enums import Layer
from tests.integration.announcing.mirror_fixture import (
    MIRRORS,
    PODS,
    SETS,
    MirrorFixture,
    mirrored_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import HOUR, a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.subject_store import change_subjects


__all__ = ["api", "server"]

HELD, SLOW = a_key("inferencesetHeld", SETS[0]), a_key("inferencesetSlow", SETS[0])
WITH_HELD = a_catalogue(
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry(
        "inferencesetHeld", 20, layer=Layer.MODELDEPLOYMENT, holds=HoldDurations(declared=HOUR)
    ),
    an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT),
)


@asynccontextmanager
async def waiting_ready(server: DevCluster, api: RestClient) -> AsyncIterator[MirrorFixture]:
    """Run a publisher that has written a Ready, whose mirror has failed once."""
    async with mirrored_publisher(server, api, catalogue=WITH_HELD) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        tried = fixture.results.total()
        server.faults.add(bad_gateway_response(), method="POST", path=MIRRORS, times=1)
        fixture.main.set_clear(PODS[0])
        fixture.main.advance(31)
        await fixture.main.wait_for_events("inferencesetPods x1", "inferencesetReady x1")
        await fixture.main.until(lambda: fixture.results.total() == tried + 1)
        yield fixture


async def test_a_ready_waits_while_its_inference_set_is_not_ready(
    server: DevCluster, api: RestClient
):
    async with waiting_ready(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(HELD))
        for failures in (2, 3):
            fixture.main.advance(failures)
            fixture.writer._changed.set()
            await fixture.main.until(lambda: fixture.failures == [failures])  # noqa: B023
        assert fixture.counts == ["inferencesetPods model-00 x1"]
        fixture.main.set_clear(HELD)
        fixture.main.advance(31)
        fixture.writer._changed.set()
        await fixture.wait_for_mirrors(
            "inferencesetPods model-00 x1", "inferencesetReady model-00 x1"
        )


async def test_a_ready_whose_inference_set_is_deleted_is_forgotten(
    server: DevCluster, api: RestClient
):
    async with waiting_ready(server, api) as fixture:
        change_subjects(fixture.main.store, frozenset(SETS), frozenset(SETS[1:]))
        fixture.main.advance(2)
        fixture.writer._changed.set()
        await fixture.main.until(lambda: not fixture.mirror._first)
        assert fixture.counts == ["inferencesetPods model-00 x1"]


async def test_a_ready_is_forgotten_when_other_trouble_is_announced(
    server: DevCluster, api: RestClient
):
    async with waiting_ready(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(SLOW))
        await fixture.wait_for_mirrors(
            "inferencesetPods model-00 x1", "inferencesetSlow model-00 x1"
        )
        assert [key[0].reason for key in fixture.mirror._first] == ["inferencesetReady"]
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors(
            *["inferencesetPods model-00 x1"] * 2, "inferencesetSlow model-00 x1"
        )
        await fixture.main.until(lambda: not fixture.mirror._first)
