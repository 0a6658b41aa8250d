"""
The commands that stay: they wait for changes, at a reporter or by watching the cluster themselves.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from devcluster.controllers.workloads import running_status
from devcluster.http.faults.rules import status_response
from devcluster.schema.times import format_time
from devcluster.server import DevCluster
from reporter.kube.connect import connect
from reporter.model.states import State
from reporter.process.clock import Clock
from reporter.status.source import StatusQueryFailed, Target
from reporter.status.watching import WatchingSource
from tests.integration.status.asking import (
    INFERENCE_SET,
    KAITO,
    MODEL_POD,
    Ended,
    ask_about,
    running,
    scale_to_zero,
    scale_up,
    server,
    serving_reporter,
    wait_for,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.settings import settings
from tests.support.stubs.swallowing_proxy import swallowing_proxy


__all__ = ["server"]

SETS = "/apis/kaito.sh/v1beta1/inferencesets"
TEAM = r"/api/v1/namespaces/team-a(\?|$)"
AWAY = status_response(503, "ServiceUnavailable", "away")
BUSY = status_response(429, "TooManyRequests", "too many requests")


def lists_of(server: DevCluster, path: str) -> list[str]:
    """Return the requests that read all objects of a kind."""
    asked = [each for _, each in server.requests if each.partition("?")[0] == path]
    return [each for each in asked if "watch=1" not in each and "fieldSelector" not in each]


def config_of(server: DevCluster, folder: Path) -> str:
    return str(server.write_kubeconfig(folder / "asking.kubeconfig"))


async def test_a_watch_of_the_cluster_lists_each_kind_once_and_prints_what_changes(
    server: DevCluster, tmp_path: Path
):
    argv = ("status", "--watch", "--from=cluster", "--settle-seconds=0")
    async with running(*argv, KUBECONFIG=config_of(server, tmp_path)) as watching:
        head, cluster, team = await watching.prints(3)
        scale_to_zero(server)
        (failed,) = await watching.prints()
        scale_up(server)
        (current,) = await watching.prints()
    assert head.split()[:2] == ["NAME", "STATE"]
    assert cluster.split()[:2] == ["cluster", "Ready"]
    assert team.split()[:2] == ["team-a", "Ready"]
    assert failed.split()[:2] == ["cluster", "Failed"]
    assert current.split()[:2] == ["cluster", "Ready"]
    assert len(lists_of(server, SETS)) == 1
    assert {method for method, _ in server.requests} == {"GET"}


async def test_a_watch_at_a_reporter_prints_what_changes(server: DevCluster, tmp_path: Path):
    async with serving_reporter(server, tmp_path) as reporter:
        url = f"http://{reporter.health_at}"
        async with running("status", "--watch", f"--from={url}") as watching:
            _, cluster, _ = await watching.prints(3)
            server.cluster.patch(*KAITO, {"spec": {"replicas": 0}})
            (changed,) = await watching.prints()
    assert cluster.split()[:2] == ["cluster", "Ready"]
    assert changed.split()[:2] == ["cluster", "Failed"]


async def test_a_wait_watches_the_cluster_and_lists_each_kind_once(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    argv = ("wait", "cluster", "--from=cluster", "--timeout=50s", "--settle-seconds=0")
    async with running(*argv, KUBECONFIG=config_of(server, tmp_path)) as waiting:
        await waiting.reports("cluster: Failed; clusterKaitoControllerNotReady")
        scale_up(server)
        ended = await waiting.ended()
    assert (ended.code, ended.out) == (0, "cluster is ready\n")
    assert len(lists_of(server, SETS)) == 1


async def test_the_first_lines_of_a_watch_are_those_of_one_reading(
    server: DevCluster, tmp_path: Path
):
    crds = "customresourcedefinitions.apiextensions.k8s.io"
    server.cluster.delete(crds, "", "ciliumnetworkpolicies.cilium.io")
    read = await ask_about(server, tmp_path, "status", "team-a", "-o", "wide", "--from=cluster")
    argv = ("status", "team-a", "-o", "wide", "--watch", "--from=cluster")
    async with running(*argv, KUBECONFIG=config_of(server, tmp_path)) as watching:
        lines = await watching.prints(len(read.out.splitlines()))
    assert "".join(lines) == read.out


async def test_a_kind_that_may_not_be_listed_is_named_and_nothing_of_it_is_current(
    server: DevCluster, tmp_path: Path
):
    server.deny("list", "gateway.networking.k8s.io", "gateways")
    argv = ("status", "team-a", "--watch", "--from=cluster")
    async with running(*argv, KUBECONFIG=config_of(server, tmp_path)) as watching:
        await watching.reports("gateways.gateway.networking.k8s.io: may not list")
        _, *rows = await watching.prints(4)
    assert {row.split()[2] for row in rows} == {"Unknown"}


async def test_a_wait_names_what_may_not_be_listed(server: DevCluster, tmp_path: Path):
    server.deny("list", "kaito.sh", "inferencesets")
    ended = await wait_for(server, tmp_path, "team-a", "--timeout=1s")
    assert ended.code == 3
    assert "inferencesets.kaito.sh: may not list" in ended.err


def limit_to_a_namespace(server: DevCluster) -> None:
    """Let nobody read anything at the scope of the cluster from now on."""
    for verb in ("list", "watch"):
        server.deny(verb, namespace="")


async def test_the_rights_in_one_namespace_are_enough_to_wait_for_its_models(
    server: DevCluster, tmp_path: Path
):
    limit_to_a_namespace(server)
    ended = await wait_for(server, tmp_path, "team-a/qwen", "--for=ready", "--timeout=50s")
    assert (ended.code, ended.out) == (0, "team-a/qwen is ready\n")
    (note,) = [line for line in ended.err.splitlines() if "only namespace" in line]
    # What has no namespaces is not seen, and not taken for a kind that is not served.
    assert note == "note: only namespace team-a may be read; not seen: gatewayclasses, nodes"
    # Whether a request reaches it depends on what is not seen.
    ended = await wait_for(server, tmp_path, "team-a/qwen", "--timeout=1s")
    assert (ended.code, "availability unknown" in ended.out) == (3, True)


async def test_a_watch_of_one_namespace_prints_what_changes_there(
    server: DevCluster, tmp_path: Path
):
    limit_to_a_namespace(server)
    argv = ("status", "team-a", "--watch", "--from=cluster", "--startup-grace-seconds=0")
    async with running(*argv, KUBECONFIG=config_of(server, tmp_path)) as watching:
        head, *rows = await watching.prints(4)
        server.cluster.delete(*INFERENCE_SET)
        (gone,) = await watching.prints()
        while "NotFound" not in gone:
            (gone,) = await watching.prints()
    assert head.split()[:3] == ["KIND", "NAME", "STATE"]
    (model,) = [row.split() for row in rows if row.startswith("InferenceSet ")]
    assert model[:5] == ["InferenceSet", "qwen", "Ready", "1/1", "unknown"]
    assert gone.split()[:3] == ["InferenceSet", "qwen", "NotFound"]
    lists = lists_of(server, "/apis/kaito.sh/v1beta1/namespaces/team-a/inferencesets")
    assert len(lists) == 1


@asynccontextmanager
async def watching(server: DevCluster, folder: Path) -> AsyncIterator[WatchingSource]:
    api = await connect(config_of(server, folder), environ={})
    source = WatchingSource(api, settings("--scrape=off"), DEFAULT_CATALOGUE, Clock())
    try:
        yield source
    finally:
        await source.close()


@asynccontextmanager
async def watching_one_namespace(
    server: DevCluster, folder: Path
) -> AsyncIterator[WatchingSource]:
    limit_to_a_namespace(server)
    async with watching(server, folder) as source:
        yield source


async def test_what_is_watched_is_made_once_however_often_discovery_fails(
    server: DevCluster, tmp_path: Path
):
    cluster = Target(is_cluster=True)
    async with watching(server, tmp_path) as source:
        away = server.faults.add(AWAY, path="/apis")
        for _ in range(3):
            with pytest.raises(StatusQueryFailed):
                await source.ask(cluster)
            assert len(source._api.forbidden._functions) == 1
        server.faults.clear(away)
        assert (await source.ask(cluster)).document is not None
    assert len(source._api.forbidden._functions) == 1


async def test_a_namespace_that_was_read_stays_known_while_the_server_is_busy(
    server: DevCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    often = timedelta(milliseconds=20)
    monkeypatch.setattr("reporter.status.watching.NAMESPACE_INTERVAL", often)
    async with watching_one_namespace(server, tmp_path) as source:
        before = await source.ask(Target("team-a"))
        busy = server.faults.add(BUSY, method="GET", path=TEAM)
        while busy.hits < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        after = await source.ask(Target("team-a"))
    assert "namespaces" not in after.notes[0]
    assert after.notes == before.notes


async def test_a_namespace_that_cannot_be_decoded_is_not_taken_for_deleted(
    server: DevCluster, tmp_path: Path
):
    server.cluster.patch(
        "namespaces", "", "team-a", {"status": {"phase": 5}}, subresource="status"
    )
    async with watching_one_namespace(server, tmp_path) as source:
        answer = await source.ask(Target("team-a"))
    assert answer.missing == ""
    assert answer.namespace is not None
    assert answer.namespace.state is State.UNKNOWN


async def test_a_wait_goes_on_after_a_server_was_too_busy_to_say_what_may_be_listed(
    server: DevCluster, tmp_path: Path
):
    server.faults.add(BUSY, method="GET", path=f"{SETS}.*limit=1", times=1)
    ended = await wait_for(server, tmp_path, "team-a", "--timeout=50s")
    assert (ended.code, ended.out) == (0, "team-a is available\n")
    assert "the cluster cannot be read: " in ended.err
    assert "too many requests" in ended.err


async def test_a_watch_ends_at_a_server_that_is_too_busy_to_say_what_may_be_listed(
    server: DevCluster, tmp_path: Path
):
    server.faults.add(BUSY, method="GET", path=f"{SETS}.*limit=1")
    config = config_of(server, tmp_path)
    argv = ("status", "team-a", "--watch", "--from=cluster")
    async with running(*argv, KUBECONFIG=config) as watching:
        ended = await watching.ended()
    assert (ended.code, ended.out, "Traceback" in ended.err) == (1, "", False)
    assert "the cluster cannot be read: " in ended.err
    assert "too many requests" in ended.err
    assert "grant what" not in ended.err


@pytest.mark.parametrize("argv", [("status",), ("explain", "team-a")], ids=" ".join)
async def test_without_any_right_there_is_no_answer(
    server: DevCluster, tmp_path: Path, argv: tuple[str, ...]
):
    server.deny("list")
    has_no_answer(await ask_about(server, tmp_path, *argv, "--from=cluster"))


@pytest.mark.parametrize(
    "argv", [("status", "--watch"), ("wait", "team-a", "--timeout=50s")], ids=" ".join
)
async def test_without_any_right_nothing_is_waited_for(
    server: DevCluster, tmp_path: Path, argv: tuple[str, ...]
):
    server.deny("list")
    config = config_of(server, tmp_path)
    async with running(*argv, "--from=cluster", KUBECONFIG=config) as waiting:
        has_no_answer(await waiting.ended())


def has_no_answer(ended: Ended) -> None:
    assert (ended.code, ended.out, "Traceback" in ended.err) == (1, "", False)
    assert "the cluster cannot be read: " in ended.err
    assert "grant what a reporter may list and watch" in ended.err


async def test_a_wait_that_is_ended_by_a_signal_has_not_met_anything(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    config = config_of(server, tmp_path)
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        argv = ("wait", "cluster", "--from=cluster", "--timeout=10m")
        async with running(*argv, KUBECONFIG=config) as waiting:
            await waiting.reports("cluster: Failed")
            waiting.process.send_signal(number)
            ended = await waiting.ended()
        assert (ended.code, ended.out, "Traceback" in ended.err) == (code, "", False)


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("wait", "cluster", "--timeout=0s"), 3),
        (("status", "--exit-code"), 4),
        (("status",), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
async def test_a_reader_that_has_gone_does_not_change_the_answer(
    server: DevCluster, tmp_path: Path, argv: tuple[str, ...], code: int
):
    scale_to_zero(server)
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        config = config_of(server, tmp_path)
        async with running(
            *argv, "--from=cluster", stdout=write_end, KUBECONFIG=config
        ) as command:
            ended = await command.ended()
    finally:
        os.close(write_end)
    assert (ended.code, "Traceback" in ended.err) == (code, False)


def renew_pod(server: DevCluster) -> None:
    pod = server.cluster.get(*MODEL_POD)
    assert pod is not None
    created = {**pod["metadata"], "creationTimestamp": format_time(Clock().now())}
    server.cluster.delete(*MODEL_POD)
    server.cluster.upsert({**pod, "metadata": created})


def set_ready(server: DevCluster, *, ready: bool) -> None:
    pod = server.cluster.get(*MODEL_POD)
    assert pod is not None
    status = running_status(pod, Clock().now())
    for each in status["conditions"]:
        each["status"] = "True" if ready or each["type"] == "PodScheduled" else "False"
    for each in status["containerStatuses"]:
        each["ready"] = ready
    server.cluster.patch(*MODEL_POD, {"status": status}, subresource="status")


async def test_a_wait_finds_what_its_watch_missed(server: DevCluster, tmp_path: Path):
    """The pod is young, so what blocks by it is read again each second."""
    renew_pod(server)
    set_ready(server, ready=False)
    argv = ("wait", "team-a/qwen", "--from=cluster", "--timeout=50s", "--settle-seconds=0")
    async with swallowing_proxy(server.url) as proxy:
        config = str(proxy.write_kubeconfig(tmp_path / "kubeconfig"))
        async with running(*argv, KUBECONFIG=config) as waiting:
            await waiting.reports("team-a/qwen: Progressing")
            proxy.swallow(MODEL_POD[2])
            set_ready(server, ready=True)
            ended = await waiting.ended()
        assert proxy.swallowed == [("MODIFIED", MODEL_POD[2])]
        assert proxy.looks
    assert (ended.code, ended.out) == (0, "team-a/qwen is available\n")
