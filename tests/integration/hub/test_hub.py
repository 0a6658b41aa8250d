"""A hub over real sockets: objects, pages, metrics, and what is not known."""

import json
from datetime import timedelta

import msgspec

from reporter.hub.metric_declarations import HUB_METRICS
from reporter.model.fleet_status import FleetDocument
from reporter.model.states import State
from tests.integration.hub.hub_fixture import KIND, RunningHub, create, running_hub
from tests.support import kstatus
from tests.support.stubs.metrics_engine import body


ROUNDS = "hub_round_duration_seconds_count"


async def test_objects_get_the_state_of_their_cluster(server, engine, tmp_path):
    async with running_hub(server, engine, tmp_path) as hub:
        create(server, "prod", "west", "east")
        await hub.until(lambda: hub.line("prod") == "Current")
        await hub.until(lambda: hub.line("west") == "Failed clusterKaitoControllerNotReady")
        await hub.until(lambda: hub.line("east") == "Unknown NeverReported")
        whole = server.cluster.get(KIND.group_resource, "fleet", "west")
        assert kstatus.compute(whole) == kstatus.FAILED
        status = hub.status("west")
        assert status["clusterUID"] == "uid-2"
        assert status["packages"] == [
            {"name": "modelharness", "revision": "0.2.2", "state": "Failed", "namespaces": 3}
        ]
        assert status["namespacesNotCurrent"] == 1
        assert status["reportedTimestampSeconds"] > 1_700_000_000
        assert {each["type"] for each in status["conditions"]} == {
            "Ready",
            "Reconciling",
            "Stalled",
            "Observed",
        }


async def test_what_is_current_is_not_written_again_and_again(server, engine, tmp_path):
    create(server, "prod")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        written, rounds = writes(server), await hub.metric(ROUNDS) or 0

        async def is_later() -> bool:
            return (await hub.metric(ROUNDS) or 0) > rounds + 10

        await hub.until(is_later)
        assert writes(server) == written
        assert await hub.metric("hub_object_writes_total", result="written") == written


def writes(server) -> int:
    return sum(
        method == "PATCH" and f"/{KIND.resource}/" in path for method, path in server.requests
    )


async def test_pages_of_the_fleet(server, engine, tmp_path):
    create(server, "prod", "west")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        document = await hub.document()
        decoded = msgspec.json.decode(json.dumps(document), type=FleetDocument)
        assert [each.name for each in decoded.clusters] == ["prod", "west"]
        assert decoded.fleet.state is State.FAILED
        (dropped,) = decoded.fleet.dropped
        assert (dropped.why, dropped.names) == ("not_engaged", ("north",))
        assert {each.result for each in decoded.fleet.queries} == {"complete"}
        one = await hub.document("/clusters/west")
        assert [each["name"] for each in one["clusters"]] == ["west"]
        assert one["clusters"][0]["namespaces"] == [{"name": "team-a", "state": "Failed"}]
        assert [e["name"] for e in (await hub.document("?state=Failed"))["clusters"]] == ["west"]
        status, text, _ = await hub.get("/status/v1/clusters/east")
        assert (status, json.loads(text)["state"]) == (404, "NotFound")
        await hub.until(lambda: is_not_modified(hub))
        status, text, _ = await hub.get("/status")
        assert json.loads(text)["process"]["leading"] is True
        status, text, _ = await hub.get("/")
        assert "Production stack status" in text
        assert (await hub.get("/readyz"))[:2] == (200, "ok\n")
        assert (await hub.get("/livez"))[0] == 200


async def is_not_modified(hub: RunningHub) -> bool:
    _, _, headers = await hub.get("/status/v1")
    status, _, _ = await hub.get("/status/v1", **{"If-None-Match": headers["ETag"]})
    return status == 304


async def test_the_namespaces_of_one_cluster_are_asked_for_on_demand(server, engine, tmp_path):
    create(server, "prod", "west", "lost")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("west").startswith("Failed"))
        status, text, _ = await hub.get("/status/v1/clusters/lost/namespaces")
        assert (status, "is Unknown (NeverReported)" in text) == (503, True)
        detail = await hub.document("/clusters/west/namespaces")
        (team,) = detail["namespaces"]
        assert (team["name"], team["state"]) == ("team-a", "Failed")
        assert team["inferenceSets"] == {"failed": 2}
        assert team["package"] == {"name": "harness", "revision": "1"}
        assert any(each.endswith('cluster="west"}') for each in engine.queries)
        assert (await hub.get("/status/v1/clusters/east/namespaces"))[0] == 404
        engine.replies['cluster="west"'] = body({}, 500)
        assert (await hub.get("/status/v1/clusters/west/namespaces"))[0] == 503


async def test_every_metric_is_on_the_page(server, engine, tmp_path):
    create(server, "prod", "east")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        _, text, _ = await hub.get("/metrics")
        for metric in HUB_METRICS:
            assert f"# HELP {metric.full_name} {metric.help}" in text, metric.name
        assert await hub.metric("hub_leader") == 1
        assert await hub.metric("leader") is None, "that of a reporter"
        assert await hub.metric("hub_clusters", state="current") == 1
        assert await hub.metric("hub_unknown_clusters", code="NeverReported") == 1
        states = {"prod": ("current", ""), "east": ("unknown", "NeverReported")}
        for name, (state, code) in states.items():
            assert await hub.metric("hub_cluster", cluster=name, state=state, code=code) == 1
        assert await hub.metric("hub_dropped_series_total", why="not_engaged") > 0
        assert await hub.metric("hub_query_results_total", query="clusters", result="complete") > 0
        assert await hub.metric("hub_last_success_timestamp_seconds") > 1_700_000_000


async def test_without_the_crd_no_cluster_seems_to_be_absent(server, engine, tmp_path):
    async with running_hub(server, engine, tmp_path) as hub:
        create(server, "prod")
        await hub.until(lambda: hub.line("prod") == "Current")
        server.cluster.delete(
            "customresourcedefinitions.apiextensions.k8s.io", "", KIND.group_resource
        )

        async def is_unknown() -> bool:
            return "not installed" in (await hub.document())["fleet"].get("why", "")

        await hub.until(is_unknown)
        document = await hub.document()
        assert document["fleet"]["state"] == "Unknown"
        assert document.get("clusters", []) == []
        assert await hub.metric("hub_clusters") is None
        assert "unknown: the CRD" in (await hub.get("/readyz"))[1]


async def test_an_engine_that_fails_is_named(server, engine, tmp_path):
    engine.replies["evaluated"] = body({"status": "error", "error": "no space left"}, 500)
    create(server, "prod")
    async with running_hub(server, engine, tmp_path) as hub:

        async def has_asked() -> bool:
            return bool(await hub.metric(ROUNDS))

        await hub.until(has_asked)
        _, text, _ = await hub.get("/readyz")
        assert text.startswith("ok\nnot answered: clusters: HTTP 500")
        assert "no space left" in text
        (cluster,) = (await hub.document())["clusters"]
        assert cluster["blocking"]["code"] == "NotAsked"
        await hub.until(lambda: hub.line("prod") == "Unknown NotAsked")
        assert await hub.metric("hub_last_success_timestamp_seconds") is None


async def test_a_hub_without_an_answer_leaves_no_old_state_in_objects(server, engine, tmp_path):
    create(server, "prod")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
    engine.replies["evaluated"] = body({}, 500)
    stale = timedelta(seconds=1)
    async with running_hub(server, engine, tmp_path, name="hub-1", stale=stale) as hub:
        await hub.until(lambda: hub.line("prod") == "Unknown NotAsked")
        assert hub.status("prod")["lastKnown"] == "Current"


async def test_a_permission_that_is_missing_is_on_its_pages(server, engine, tmp_path):
    resource = f"{KIND.resource}/status"
    server.deny("patch", KIND.group, resource)
    create(server, "prod")
    async with running_hub(server, engine, tmp_path) as hub:

        async def is_shown() -> bool:
            labels = {"verb": "patch", "resource": f"{KIND.group_resource}/status"}
            return await hub.metric("missing_rights", **labels) == 1

        await hub.until(is_shown)
        assert await hub.metric("missing_rights") == 1
        assert await hub.metric("unknown_rights") == 0
        found = json.loads((await hub.get("/status"))[1])["process"]["permissions"]
        assert list(found["missing"].values()) == [["none: the status of objects is not written"]]


async def test_all_labels_are_seen_without_any_object_or_permission(server, engine, tmp_path):
    async with running_hub(server, engine, tmp_path, "--hub-engage=seen") as hub:

        async def is_seen() -> bool:
            found = (await hub.document()).get("clusters", [])
            return [each["name"] for each in found if each["state"] != "Unknown"] == [
                "north",
                "prod",
                "west",
            ]

        await hub.until(is_seen)
        assert (await hub.document())["fleet"].get("dropped", []) == []
        # A watch that never runs would be an alert for ever on one that is lost.
        assert await hub.metric("watch_up") is None
        assert await hub.metric("kind_served") is None


async def test_a_successor_takes_over_and_what_stands_does_not_flap(server, engine, tmp_path):
    create(server, "prod", "west")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        await hub.until(lambda: hub.line("west").startswith("Failed"))
    seen: set[str] = set()
    async with running_hub(server, engine, tmp_path, name="hub-1") as successor:

        async def has_led_a_while() -> bool:
            seen.add(successor.line("prod"))
            assert successor.status("prod")["inferenceSets"] == {"total": 3, "current": 3}
            return (await successor.metric(ROUNDS) or 0) > 5

        await successor.until(has_led_a_while)
        first, _ = (await successor.document())["clusters"]
        assert first["state"] == "Current"
    assert seen == {"Current"}
