"""The command status asks a hub over real sockets: at a URL, and its leader among the pods."""

import json

from aiohttp import web

from tests.integration.hub.hub_fixture import NAMESPACE, RunningHub, create, running_hub
from tests.integration.status.asking import add_reporter_pod, ask, ask_about, running, wait
from tests.support.stubs.api_servers import Handler, serving
from tests.support.stubs.metrics_engine import running_engine


async def test_the_command_shows_what_the_hub_answers(server, engine, tmp_path):
    create(server, "prod", "west")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        where = f"--from=hub:http://{hub.health_at}"
        found = await ask("status", where, "--exit-code")
        assert found.code == 4
        rows = [line.split() for line in found.out.splitlines()]
        head = "NAME STATE SETS READY UNKNOWN FOR BLOCKED BY ACTS"
        assert rows[0] == head.split()
        assert [row[:2] for row in rows[1:]] == [["prod", "Ready"], ["west", "Failed"]]
        assert rows[2][-2:] == ["clusterKaitoControllerNotReady", "platform"]
        assert "12 series are left out (not_engaged): north" in found.err
        wide = await ask("status", where, "-o", "wide")
        assert "modelharness 0.2.2" in wide.out
        one = await ask("status", "west", where)
        assert "Package:       modelharness 0.2.2: 3 Failed" in one.out
        assert "Namespace:     team-a Failed" in one.out
        assert (await ask("status", "-o", "name", where)).out == "prod\nwest\n"
        assert json.loads((await ask("status", "-o", "json", where)).out)["scope"] == "fleet"
        assert "state: Failed" in (await ask("status", "-o", "yaml", where)).out
        bare = await ask("status", where, "--no-headers")
        assert [line.split()[0] for line in bare.out.splitlines()] == ["prod", "west"]
        missing = await ask("status", "east", where, "--exit-code")
        assert (missing.code, "does not answer for a cluster east" in missing.err) == (6, True)
        plain = await ask("status", f"--from=http://{hub.health_at}")
        assert (plain.code, "ask it with --from=hub:URL" in plain.err) == (1, True)
        waited = await wait("team-a", where)
        assert (waited.code, "a hub answers status alone" in waited.err) == (2, True)
        other = await ask("status", where, "--all-namespaces")
        assert other.code == 2


async def test_the_command_finds_the_leader_among_the_pods(server, engine, tmp_path):
    create(server, "prod", "west")

    def add(name: str, address: str) -> None:
        where = {"namespace": NAMESPACE, "component": "status-hub"}
        add_reporter_pod(server, address, name=name, **where)

    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        none = await ask_about(server, tmp_path, "status", "--from=hub")
        assert none.code == 1
        assert "no pod has the label app.kubernetes.io/component=status-hub" in none.err
        add("hub-z", "127.0.0.1:8082")
        inside = await ask_about(server, tmp_path, "status", "--from=hub")
        assert inside.code == 1
        assert f"kubectl port-forward -n {NAMESPACE} hub-z 8082" in inside.err
        assert "--from=hub:http://127.0.0.1:8082" in inside.err
        assert "value statusBindAddress=:8082" in inside.err
        async with running_hub(server, engine, tmp_path, name="hub-1") as follower:
            await follower.until(lambda: is_led_by_another(follower))
            # They are asked in the order of their names, so the follower first.
            add("hub-a", f":{follower.health_at.port}")
            add("hub-b", f":{hub.health_at.port}")
            found = await ask_about(server, tmp_path, "status", "--from=hub")
        assert found.code == 0
        assert f"the status is that of the hub in pod {NAMESPACE}/hub-b" in found.err
        rows = [line.split()[:2] for line in found.out.splitlines()[1:]]
        assert rows == [["prod", "Ready"], ["west", "Failed"]]


async def test_a_follower_says_who_leads_and_asks_nothing(server, engine, tmp_path):
    create(server, "prod")
    async with running_hub(server, engine, tmp_path) as hub:
        await hub.until(lambda: hub.line("prod") == "Current")
        async with (
            running_engine() as idle,
            running_hub(server, idle, tmp_path, name="hub-1") as follower,
        ):
            await follower.until(lambda: is_led_by_another(follower))
            status, text, _ = await follower.get("/status/v1")
            assert status == 503
            assert "the leader is hub-0_" in json.loads(text)["error"]
            assert await follower.metric("hub_clusters") is None
            assert await follower.metric("hub_leader") == 0
            where = f"--from=hub:http://{follower.health_at}"
            found = await ask("status", where)
            assert (found.code, "the leader is hub-0_" in found.err) == (1, True)
            assert idle.requests == []


async def is_led_by_another(hub: RunningHub) -> bool:
    return "hub-0_" in (await hub.get("/status/v1"))[1]


def answering(state: str) -> Handler:
    """Return the answers of a leader that knows one cluster."""
    document = {
        "schema": "v1",
        "scope": "fleet",
        "mode": "watching",
        "fleet": {"state": state, "engage": "listed"},
        "clusters": [{"name": "prod", "label": "prod", "state": state}],
    }

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(document, headers={"ETag": f'"{state}"'})

    return answer


async def not_leading(_: web.BaseRequest) -> web.StreamResponse:
    return web.json_response({"schema": "v1", "error": "it does not lead"}, status=503)


async def test_a_command_that_watches_goes_on_with_the_next_leader(server, tmp_path):
    """The pod that led follows then: it is there, and answers that it does not lead."""
    async with serving(answering("Current")) as first, serving(not_leading) as second:
        for name, hub in (("hub-a", first), ("hub-b", second)):
            port = hub.url.rpartition(":")[2]
            where = {"namespace": NAMESPACE, "component": "status-hub"}
            add_reporter_pod(server, f":{port}", name=name, **where)
        config = str(server.write_kubeconfig(tmp_path / "watching.kubeconfig"))
        words = ("status", "--from=hub", "--watch", "--no-headers")
        async with running(*words, KUBECONFIG=config) as watching:
            (line,) = await watching.prints()
            assert line.split()[:2] == ["prod", "Ready"]
            second.handler, first.handler = answering("Failed"), not_leading
            (line,) = await watching.prints()
            assert line.split()[:2] == ["prod", "Failed"]
