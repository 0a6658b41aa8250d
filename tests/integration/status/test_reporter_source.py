"""The command status asks a reporter: at a URL, and in its pod through the API server."""

from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from devcluster.server import DevCluster
from reporter.model.status_document import StatusDocument
from tests.integration.status.asking import (
    add_reporter_pod,
    ask,
    ask_about,
    scale_to_zero,
    server,
    serving_reporter,
    wait,
)
from tests.support.stubs.api_servers import a_json_response, an_html_response, serving


__all__ = ["server"]

TABLE = "team-a    Ready"


async def test_a_reporter_and_the_cluster_agree(server: DevCluster, tmp_path: Path):
    async with serving_reporter(server, tmp_path) as reporter:
        scale_to_zero(server)
        url = f"http://{reporter.health_at}"
        await wait("cluster", "--timeout=30s", "--fail-fast", f"--from={url}")
        asked = await ask("status", f"--from={url}", "-o", "json")
        read = await ask_about(server, tmp_path, "status", "--from=cluster", "-o", "json")
    first, second = (msgspec.json.decode(each.out, type=StatusDocument) for each in (asked, read))
    assert (first.mode, second.mode) == ("watching", "oneShot")
    assert first.cluster.blocking.reason == second.cluster.blocking.reason
    assert first.cluster.components == second.cluster.components
    assert first.cluster.counts == second.cluster.counts
    assert first.namespaces == second.namespaces


@pytest.mark.parametrize("where", ["auto", "reporter"])
async def test_it_is_asked_in_its_pod_through_the_api_server(
    server: DevCluster, tmp_path: Path, where: str
):
    async with serving_reporter(server, tmp_path) as reporter:
        port = reporter.health_at.rpartition(":")[2]
        add_reporter_pod(server, f":{port}")
        ended = await ask_about(server, tmp_path, "status", f"--from={where}", "-o", "json")
    assert ended.code == 0
    assert "the status is that of the reporter in pod kaito-system/reporter-0" in ended.err
    assert msgspec.json.decode(ended.out, type=StatusDocument).mode == "watching"
    assert any(f"reporter-0:{port}/proxy/status/v1" in path for _, path in server.requests)


async def test_a_status_address_inside_of_the_pod_is_no_way_and_the_cluster_is_read(
    server: DevCluster, tmp_path: Path
):
    add_reporter_pod(server, "127.0.0.1:8082")
    ended = await ask_about(server, tmp_path, "status", "--from=reporter")
    assert ended.code == 1
    assert "kubectl port-forward -n kaito-system reporter-0 8082" in ended.err
    assert "statusBindAddress=:8082" in ended.err
    ended = await ask_about(server, tmp_path, "status")
    assert (ended.code, TABLE in ended.out) == (0, True)
    assert "read from the cluster: pod kaito-system/reporter-0" in ended.err
    assert "flags are those of pod kaito-system/reporter-0" in ended.err


async def test_in_its_own_pod_it_is_asked_at_an_address_inside_of_the_pod(
    server: DevCluster, tmp_path: Path
):
    async with serving_reporter(server, tmp_path) as reporter:
        add_reporter_pod(server, "127.0.0.1:8082")
        add_reporter_pod(server, reporter.health_at, name="reporter-1")
        here = {"POD_NAMESPACE": "kaito-system", "POD_NAME": "reporter-1"}
        ended = await ask_about(server, tmp_path, "status", "-o", "json", **here)
    assert ended.code == 0
    assert f"the status is that of the reporter at http://{reporter.health_at}" in ended.err
    assert msgspec.json.decode(ended.out, type=StatusDocument).mode == "watching"


async def test_without_the_right_to_the_proxy_the_cluster_is_read(
    server: DevCluster, tmp_path: Path
):
    add_reporter_pod(server, ":8082")
    server.deny("get", "", "pods/proxy")
    ended = await ask_about(server, tmp_path, "status", "--from=reporter")
    assert ended.code == 1
    assert "grant get on pods/proxy in namespace kaito-system" in ended.err
    ended = await ask_about(server, tmp_path, "status")
    assert (ended.code, TABLE in ended.out) == (0, True)


async def test_reporters_in_two_namespaces_are_not_guessed(server: DevCluster, tmp_path: Path):
    for namespace in ("kaito-system", "team-a"):
        add_reporter_pod(server, "127.0.0.1:8082", namespace=namespace)
    ended = await ask_about(server, tmp_path, "status")
    assert "choose a --reporter-namespace: reporters are in kaito-system, team-a" in ended.err
    assert "flags are those" not in ended.err
    ended = await ask_about(server, tmp_path, "status", "--reporter-namespace=kaito-system")
    assert "flags are those of pod kaito-system/reporter-0" in ended.err


async def test_its_flags_count_for_the_cluster_unless_they_are_given(
    server: DevCluster, tmp_path: Path
):
    add_reporter_pod(server, "127.0.0.1:8082", keda="")

    async def components(*argv: str) -> set[str]:
        ended = await ask_about(
            server, tmp_path, "status", "cluster", "--from=cluster", "-o", "json", *argv
        )
        document = msgspec.json.decode(ended.out, type=StatusDocument)
        return {each.name for each in document.cluster.components}

    assert "keda-operator" not in await components()
    assert "keda-operator" in await components("--keda-namespace=keda")


async def test_flags_that_this_release_refuses_are_left_out(server: DevCluster, tmp_path: Path):
    add_reporter_pod(server, "127.0.0.1:8082", keda="No_Name")
    ended = await ask_about(server, tmp_path, "status", "--from=cluster")
    assert (ended.code, TABLE in ended.out) == (0, True)
    assert "the flags of pod kaito-system/reporter-0 are left out: --keda-namesp" in ended.err


async def test_without_a_reporter_there_are_other_ways(server: DevCluster, tmp_path: Path):
    ended = await ask_about(server, tmp_path, "status", "--from=reporter")
    assert ended.code == 1
    assert "no pod has the label" in ended.err
    assert "or use --from=cluster" in ended.err


async def older(_) -> web.StreamResponse:
    return web.Response(status=404, text="404: Not Found")


async def html(_) -> web.StreamResponse:
    return an_html_response(200)


async def another_program(_) -> web.StreamResponse:
    return a_json_response({"status": "ok"})


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (older, "this reporter has no /status/v1: it is of an older version"),
        (html, "the answer is an HTML page and not that of a reporter"),
        (another_program, "the answer is not the status of a reporter"),
    ],
)
async def test_what_is_no_reporter_is_named(handler, expected):
    async with serving(handler) as stub:
        ended = await ask("status", f"--from={stub.url}")
    assert (ended.code, ended.out) == (1, "")
    assert expected in ended.err


async def test_an_address_where_nothing_listens_is_named():
    ended = await ask("status", "--from=http://127.0.0.1:1")
    assert ended.code == 1
    assert "http://127.0.0.1:1 cannot be read" in ended.err
    assert "kubectl port-forward" in ended.err


async def test_flags_of_an_evaluation_are_named_where_a_reporter_answers(
    server: DevCluster, tmp_path: Path
):
    flag = "--kaito-namespace=kaito-system"
    async with serving_reporter(server, tmp_path) as reporter:
        ended = await ask_about(server, tmp_path, "status", flag)
        assert "no effect" not in ended.err
        add_reporter_pod(server, f":{reporter.health_at.rpartition(':')[2]}")
        ended = await ask_about(server, tmp_path, "status", flag)
    assert ended.code == 0
    assert "--kaito-namespace: no effect on a reporter; --from=cluster eval" in ended.err
