"""Publishers of Events and HealthEvents while the catalogue changes under their writes."""

from msgspec.structs import replace

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.controller.passes import AdaptedEvaluation
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.history.desired import DesiredCache
from reporter.history.existing import Create
from reporter.history.writer import HealthEventWriter, PlannedWrite
from reporter.kinds.health_events import HealthEvent, StoreWriteResult
from reporter.kube.client import RestClient
from reporter.kube.object_client import ObjectClient
from tests.integration.announcing.publisher_fixture import (
    BBR,
    ISTIO,
    PublisherFixture,
    running_publisher,
)
from tests.integration.history.store_fixture import running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_catalogue, an_active_verdict, an_entry


__all__ = ["api", "server"]

ONLY_BBR = a_catalogue(an_entry("clusterBBR", 20))
POSTS = {"method": "POST", "path": "/events"}


def change(fixture: PublisherFixture, catalogue=ONLY_BBR) -> None:
    """Continue with another catalogue from the next pass on."""
    controller, announcements = fixture.controller, fixture.announcements
    settings = announcements.publish_context().settings

    def adapt(before):
        after = change_catalogue(before, catalogue, settings)
        return AdaptedEvaluation(
            after, announcements.prepare_catalogue(catalogue, settings, after)
        )

    evaluator = replace(controller._evaluator, catalogue=catalogue)
    controller.replace_evaluator(evaluator, adapt)
    controller._change_evaluator()
    controller.run_pass(full=True)


async def test_a_refused_event_of_a_reason_that_goes_is_not_tried_again(
    server: DevCluster, api: RestClient
):
    server.faults.add(status_response(503, "ServiceUnavailable", "down"), times=1, **POSTS)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(ISTIO))
        await fixture.until(lambda: fixture.results["failed"] == 1)
        fixture.verdicts.pop(ISTIO)
        change(fixture)
        fixture.set_verdicts(an_active_verdict(BBR))
        fixture.advance(120)
        await fixture.until(lambda: [e["reason"] for e in fixture.events] == ["clusterBBR"])
        await fixture.until(lambda: fixture.announcements.announced == {BBR})


async def test_the_health_event_of_a_reason_that_goes_is_resolved(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        store.events.verdicts.pop(ISTIO)
        change(store.events)
        await store.advance(31)
        await store.until_phases("clusterIstio Resolved")
        (kept,) = store.existing
        assert kept["status"]["resolution"] == "Gone"


async def test_a_create_that_was_planned_before_is_not_sent(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        wanted = DesiredCache(lambda record, node: "another-one")
        context = store.events.announcements.publish_context()
        ((node, episode),) = wanted.update(context).names.values()
        store.events.verdicts.pop(ISTIO)
        change(store.events)
        writer = HealthEventWriter(
            ObjectClient(api, store.kind, HealthEvent),
            store.objects,
            store.events.announcements,
            store.kind,
        )
        result = await writer.write(PlannedWrite(Create("another-one", node, episode), "v1alpha1"))
        assert result is StoreWriteResult.GONE
        assert store.writes("POST") == 1
