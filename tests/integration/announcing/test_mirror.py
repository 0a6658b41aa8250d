"""Events beside their InferenceSets, against an API server."""

import pytest

from devcluster.http.faults.rules import Hang, bad_gateway_response, overloaded_response
from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from tests.integration.announcing.mirror_fixture import (
    MIRRORS,
    PODS,
    SETS,
    MirrorFixture,
    mirrored_publisher,
)
from tests.integration.announcing.publisher_fixture import (
    BBR,
    lines,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_trouble, an_active_verdict


__all__ = ["api", "server"]


async def test_a_mirror_is_the_same_event_about_the_inference_set(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]), an_active_verdict(BBR))
        await fixture.main.wait_for_events("clusterBBR x1", "inferencesetPods x1")
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        (mirror,) = fixture.events
        (event,) = (each for each in fixture.main.events if each["reason"] == "inferencesetPods")
        assert mirror["involvedObject"] == {
            "apiVersion": "kaito.sh/v1beta1",
            "kind": "InferenceSet",
            "name": "model-00",
            "namespace": "team-a",
            "uid": "uid-model-00",
        }
        same = ("reason", "message", "type", "count", "eventTime", "firstTimestamp", "source")
        assert {name: mirror[name] for name in same} == {name: event[name] for name in same}
        assert mirror["metadata"]["labels"] == event["metadata"]["labels"]
        names = [each["metadata"]["name"].partition(".") for each in (mirror, event)]
        assert names[0][0] == "model-00"
        assert names[0][2] == names[1][2]


async def test_a_mirror_follows_rewrites_heartbeats_and_recovery(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        fixture.main.advance(5)
        fixture.main.set_verdicts(an_active_verdict(PODS[0], a_trouble(code="Other")))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x2")
        fixture.main.advance(331)
        await fixture.wait_for_mirrors("inferencesetPods model-00 x3")
        fixture.main.set_clear(PODS[0])
        fixture.main.advance(31)
        await fixture.wait_for_mirrors(
            "inferencesetPods model-00 x3", "inferencesetReady model-00 x1"
        )


async def test_each_member_of_a_group_that_exists_has_a_mirror(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(*map(an_active_verdict, PODS))
        await fixture.main.wait_for_events("inferencesetPods x1")
        await fixture.wait_for_mirrors(*(f"inferencesetPods {each.name} x1" for each in SETS[:11]))
        fixture.main.set_clear(*PODS)
        fixture.main.advance(31)
        await fixture.wait_for_mirrors(
            *(f"inferencesetPods {each.name} x1" for each in SETS[:11]),
            *(f"inferencesetReady {each.name} x1" for each in SETS[:11]),
        )


async def test_a_mirror_that_is_refused_is_tried_again_and_delays_nothing(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    denial = server.deny("create", "", "events", "team-a")
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.main.wait_for_events("inferencesetPods x1")
        await fixture.main.until(lambda: fixture.results["refused"] == 1)
        fixture.main.set_verdicts(an_active_verdict(BBR))
        await fixture.main.wait_for_events("clusterBBR x1", "inferencesetPods x1")
        assert fixture.counts == []
        assert len(lines(caplog, "cannot create")) == 1
        server.allow(denial)
        fixture.main.advance(2)
        fixture.writer._changed.set()
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")


async def test_a_mirror_that_hangs_delays_nothing(server: DevCluster, api: RestClient):
    async with mirrored_publisher(server, api) as fixture:
        server.faults.add(Hang(), method="POST", path=MIRRORS)
        for number, key in enumerate(PODS[:8], start=1):
            fixture.main.set_verdicts(an_active_verdict(key))
            await fixture.main.wait_for_events(*["inferencesetPods x1"] * number)
        assert fixture.counts == []
        server.faults.clear()


async def first_write_fails(server: DevCluster, fixture: MirrorFixture) -> None:
    server.faults.add(bad_gateway_response(), method="POST", path=MIRRORS, times=1)
    fixture.main.set_verdicts(an_active_verdict(PODS[0]))
    await fixture.main.until(lambda: fixture.results.total() == 1)


async def test_what_is_no_longer_true_is_not_mirrored_late(server: DevCluster, api: RestClient):
    async with mirrored_publisher(server, api) as fixture:
        await first_write_fails(server, fixture)
        fixture.main.set_clear(PODS[0])
        fixture.main.advance(31)
        await fixture.wait_for_mirrors("inferencesetReady model-00 x1")


async def test_a_new_episode_replaces_a_repeat_of_the_last_one(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        server.faults.add(overloaded_response(60), method="PATCH", path=MIRRORS, times=1)
        fixture.main.advance(331)
        await fixture.main.until(lambda: fixture.results["throttled"] == 1)
        fixture.main.set_clear(PODS[0])
        fixture.main.advance(31)
        first = ["inferencesetPods model-00 x1", "inferencesetReady model-00 x1"]
        await fixture.wait_for_mirrors(*first)
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.main.wait_for_events(
            "inferencesetPods x1", "inferencesetPods x2", "inferencesetReady x1"
        )
        assert [*fixture.mirror._repeats] == []
        fixture.main.advance(31)
        fixture.writer._changed.set()
        await fixture.wait_for_mirrors(*first, "inferencesetPods model-00 x1")


async def test_a_mirror_that_has_expired_is_created_anew(server: DevCluster, api: RestClient):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        (mirror,) = fixture.events
        server.cluster.delete("events", "team-a", mirror["metadata"]["name"])
        fixture.main.advance(331)
        await fixture.wait_for_mirrors("inferencesetPods model-00 x2")


async def test_a_process_that_does_not_lead_forgets_what_waits(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        await first_write_fails(server, fixture)
        fixture.main.leadership.release()
        await fixture.main.until(lambda: not fixture.mirror._first)
        fixture.main.leadership.acquire()
        fixture.main.advance(331)
        await fixture.wait_for_mirrors("inferencesetPods model-00 x2")


async def test_a_mirror_follows_an_inference_set_that_is_created_anew(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
        fixture.uids["model-00"] = "another"
        fixture.main.advance(331)
        await fixture.wait_for_mirrors("inferencesetPods model-00 x2")
        assert [each["involvedObject"]["uid"] for each in fixture.events] == ["another"]


async def test_what_is_announced_after_a_fault_is_mirrored(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    async with mirrored_publisher(server, api) as fixture:
        fixture.faulty.add("model-00")
        fixture.main.set_verdicts(an_active_verdict(PODS[0]))
        await fixture.main.until(lambda: bool(lines(caplog, "cannot be written beside")))
        fixture.main.set_verdicts(an_active_verdict(PODS[1]))
        await fixture.wait_for_mirrors("inferencesetPods model-01 x1")


async def test_a_mirror_waits_without_spinning_while_the_lease_is_not_valid(
    server: DevCluster, api: RestClient
):
    async with mirrored_publisher(server, api) as fixture:
        await first_write_fails(server, fixture)
        leadership = fixture.main.leadership
        leadership.firm = lambda: False
        fixture.main.advance(2)
        fixture.writer._changed.set()
        checks = leadership.checks
        await fixture.main.wait_idle()
        assert fixture.results.total() == 1
        assert checks < leadership.checks < checks + 5
        leadership.firm = lambda: True
        await fixture.wait_for_mirrors("inferencesetPods model-00 x1")
