"""The answers of a wired process: liveness, readiness and status."""

import asyncio
import json
from collections import deque
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from devcluster.server import DevCluster
from reporter.app import Reporter
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.gateway_api import HTTP_ROUTES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kube.client import RestClient
from reporter.kube.elector import Elector
from reporter.model.observations import (
    DiscoveryResult,
    NotServed,
    NotSynced,
    Watching,
    WatchLost,
)
from reporter.model.states import State
from reporter.process.clock import Clock
from reporter.settings import load_settings
from reporter.settings.parsers import BindAddress
from tests.integration.kube.test_elector import api, server
from tests.integration.server.served_pages import ServedPages, free
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.metrics_text import metrics_text
from tests.support.model_builders import a_set, a_team


__all__ = ["api", "server"]


@pytest_asyncio.fixture
async def reporter(server: DevCluster, api: RestClient) -> Reporter:
    """
    A reporter that is wired but not running, as if it had read that there are no earlier Events.
    """
    settings = load_settings([], {}, hostname="laptop", namespace_file=Path("/nowhere"))
    reporter = Reporter(settings, DEFAULT_CATALOGUE, api, Clock())
    reporter._announcements.events_read()
    return reporter


def mark_all_watched(reporter: Reporter) -> None:
    for kind in reporter._store.kinds:
        reporter._store.set_watch_state(kind, Watching())


async def test_ready_means_every_kind_listed_and_a_pass_finished(reporter: Reporter):
    every = ", ".join(kind.group_resource for kind in reporter._store.kinds)
    assert reporter._health.why_not_ready() == (
        f"not every kind was listed yet\n{every}: being listed"
    )
    mark_all_watched(reporter)
    assert reporter._health.why_not_ready() == "no pass was finished yet"
    reporter._controller.run_pass(full=True)
    assert reporter._health.why_not_ready() == "the status was not rolled up yet"
    run_pass(reporter)
    assert reporter._health.why_not_ready() == ""
    reporter._store.set_watch_state(NAMESPACES, NotSynced("may not list namespaces"))
    assert reporter._health.why_not_ready() == "", "ready once is ready"


async def test_ready_waits_for_a_list_that_nobody_but_the_api_server_may_refuse(
    reporter: Reporter,
):
    mark_all_watched(reporter)
    reporter._store.set_watch_state(NAMESPACES, NotSynced("HTTP 407: proxy"))
    run_pass(reporter)
    assert reporter._health.why_not_ready() == (
        "not every kind was listed yet\nnamespaces: HTTP 407: proxy"
    )
    refused = NotSynced("may not list namespaces", refused=True)
    reporter._store.set_watch_state(NAMESPACES, refused)
    run_pass(reporter)
    assert reporter._health.why_not_ready() == ""
    assert reporter._health.describe_limits().splitlines() == [
        *(
            f"unknown: {layer}: namespaces not listed yet: may not list namespaces"
            for layer in ("modelharness", "modeldeployment")
        ),
        "not read: namespaces: may not list namespaces",
    ]


async def test_ready_does_not_wait_for_a_kind_that_fails_while_others_are_listed(
    reporter: Reporter,
):
    failing = NotSynced("conversion webhook failed", failing=True)
    for kind in reporter._store.kinds:
        reporter._store.set_watch_state(kind, failing)
    run_pass(reporter)
    assert reporter._health.why_not_ready().startswith("not every kind was listed yet\n")
    mark_all_watched(reporter)
    reporter._store.set_watch_state(HTTP_ROUTES, failing)
    run_pass(reporter)
    assert reporter._health.why_not_ready() == ""
    routes = HTTP_ROUTES.group_resource
    assert reporter._health.describe_limits() == f"not read: {routes}: conversion webhook failed"


async def test_ready_does_not_wait_for_a_kind_that_discovery_lists_and_the_server_answers_with_404(
    reporter: Reporter,
):
    served = DiscoveryResult({INFERENCE_SETS.group_resource: INFERENCE_SETS.versions})
    reporter._store.record_discovery(served, now=Clock().now())
    reporter._store.set_watch_state(INFERENCE_SETS, NotServed())
    reporter._store.record_discovery(served, now=Clock().now())
    for kind in reporter._store.kinds:
        if kind is not INFERENCE_SETS:
            reporter._store.set_watch_state(kind, NotSynced("HTTP 407: proxy"))
    assert INFERENCE_SETS.group_resource in reporter._health.why_not_ready()
    for kind in reporter._store.kinds:
        if kind is not INFERENCE_SETS:
            reporter._store.set_watch_state(kind, Watching())
    run_pass(reporter)
    assert reporter._health.why_not_ready() == ""
    assert "though discovery lists it" in reporter._health.describe_limits()


async def test_the_status_shows_what_a_kind_that_cannot_be_read_costs(reporter: Reporter):
    mark_all_watched(reporter)
    assert json.loads("".join(reporter._diagnosis_page.render()))["unread"] == {}
    lost = WatchLost(Clock().now() - timedelta(seconds=31), "may not watch pods")
    reporter._store.set_watch_state(PODS, lost)
    status = json.loads("".join(reporter._diagnosis_page.render()))
    assert status["unread"] == {
        "pods": {
            "why": "may not watch pods",
            "unknown": [
                "clusterNodesNotReady",
                "inferencesetEngineStalled",
                "inferencesetModelPodsNotReady",
                "inferencesetPodRestarting",
                "inferencesetRouteNotReady",
                "inferencesetStatusContradicted",
                "inferencesetWeightDownloadSlow",
            ],
            "unknownInPart": ["inferencesetScalingMisconfigured"],
            "lessDetail": [
                "clusterBBRNotReady",
                "clusterGatewayAuthNotReady",
                "clusterIstioControlPlaneNotReady",
                "clusterKaitoControllerNotReady",
                "clusterKedaKaitoScalerNotReady",
                "clusterKedaNotReady",
                "clusterNodeProvisionerNotReady",
                "inferencesetEPPNotReady",
                "inferencesetInfraProvisioningFailed",
                "inferencesetNodeUnderPressure",
                "modelharnessGatewayDataPlaneNotReady",
            ],
        }
    }
    recent = WatchLost(Clock().now(), "connection refused")
    reporter._store.set_watch_state(PODS, recent)
    assert json.loads("".join(reporter._diagnosis_page.render()))["unread"] == {}


async def test_live_means_a_pass_within_three_resyncs(reporter: Reporter):
    now = asyncio.get_running_loop().time()
    mark_all_watched(reporter)
    run_pass(reporter)
    reporter._controller.pass_times.finished = now - 80
    assert reporter._health.why_not_live() == ""
    reporter._controller.pass_times.finished = now - 95
    assert reporter._health.why_not_live() == "no pass was finished for 95s"


async def test_a_server_that_lists_slowly_is_not_mended_by_another_start(reporter: Reporter):
    reporter._health.started_at = asyncio.get_running_loop().time() - 600
    assert reporter._health.why_not_live() == ""
    mark_all_watched(reporter)
    assert reporter._health.why_not_live() == "no pass was finished for 600s"


async def test_the_status_of_a_process_that_saw_nothing_yet(reporter: Reporter):
    status = json.loads("".join(reporter._diagnosis_page.render()))
    assert (status["leading"], status["lastPass"]) == (False, None)
    assert status["identity"].startswith("laptop_")
    assert set(status["kinds"].values()) == {"being listed"}
    mark_all_watched(reporter)
    run_pass(reporter)
    status = json.loads("".join(reporter._diagnosis_page.render()))
    assert status["lastPass"]
    (cluster,) = (s for s in status["subjects"] if s["layer"] == "cluster")
    (missing,) = (v for v in cluster["verdicts"] if v["reason"] == "clusterBBRNotReady")
    assert missing["state"] == "held"


async def test_by_default_the_status_is_served_inside_the_pod_alone(
    server: DevCluster, api: RestClient, monkeypatch
):
    """A server on all interfaces answers at 127.0.0.2 as well; one at 127.0.0.1 does not."""
    inside, metrics, health = free(), free(), free()
    monkeypatch.setattr("reporter.settings.effective.STATUS_ADDRESS", inside)
    flags = (
        f"--metrics-bind-address=:{metrics.port}",
        f"--health-probe-bind-address=:{health.port}",
    )
    settings = load_settings(flags, {}, hostname="laptop", namespace_file=Path("/nowhere"))
    reporter = Reporter(settings, DEFAULT_CATALOGUE, api, Clock())
    await reporter._server.start()
    try:
        async with aiohttp.ClientSession() as session:
            outside = [BindAddress("127.0.0.2", each.port) for each in (metrics, health, inside)]
            served = ServedPages(outside[0], outside[1], session)
            for path in ("/livez", "/healthz", "/readyz"):
                assert (await served.get(outside[1], path))[0] in {200, 503}
            assert (await served.get(outside[0], "/metrics"))[0] == 200
            assert [(await served.get(each, "/status"))[0] for each in outside[:2]] == [404, 404]
            with pytest.raises(aiohttp.ClientConnectionError):
                await served.get(outside[2], "/status")
            assert (await served.get(inside, "/status"))[0] == 200
    finally:
        await reporter._server.stop()


async def test_ready_does_not_wait_for_a_kind_of_which_no_version_can_be_read(
    reporter: Reporter,
):
    mark_all_watched(reporter)
    reporter._store.set_watch_state(INFERENCE_SETS, NotServed())
    served = DiscoveryResult({INFERENCE_SETS.group_resource: ("v2",)})
    reporter._store.record_discovery(served, now=Clock().now())
    run_pass(reporter)
    assert reporter._health.why_not_ready() == ""
    assert "served as v2 only" in reporter._health.describe_limits()


# ---------------------------------------------------------------- /status/v1


def run_pass(reporter: Reporter, *, full: bool = True) -> None:
    """Run a pass and roll it up, as the tasks of a process do."""
    reporter._controller.run_pass(full=full)
    deque(reporter._rollup.fold_waiting())


def load_stack(reporter: Reporter) -> None:
    """Fill the store with a namespace and its InferenceSet, whose Workspaces are yet to come."""
    for each in (a_team(), a_set()):
        kind = next(k for k in reporter._store.kinds if isinstance(each, k.type))
        reporter._store.upsert(kind, each)
    mark_all_watched(reporter)


async def test_the_roll_up_follows_each_pass(reporter: Reporter):
    load_stack(reporter)
    assert reporter._rollup.view().cluster().state is State.UNKNOWN
    run_pass(reporter)
    (namespace,) = reporter._rollup.view().namespaces()
    (found,) = namespace.inference_sets
    assert (found.name, found.replicas.desired, found.replicas.ready) == ("qwen", 1, 0)
    assert found.state is not State.CURRENT
    async with asyncio.TaskGroup() as group, asyncio.timeout(60):
        group.create_task(reporter._rollup.next_change())
        await asyncio.sleep(0)
        reporter._store.delete(INFERENCE_SETS, "team-a", "qwen")
        run_pass(reporter, full=False)
    assert not next(reporter._rollup.view().namespaces()).inference_sets


async def test_a_roll_up_that_fails_is_unknown_and_ends_no_pass(
    reporter: Reporter, monkeypatch: pytest.MonkeyPatch
):
    load_stack(reporter)
    run_pass(reporter)
    monkeypatch.setattr(reporter._rollup, "_pass_rules", None)
    run_pass(reporter)
    assert reporter._rollup.rollup.cluster is None
    assert reporter._controller.evaluation.subjects
    monkeypatch.undo()
    run_pass(reporter)
    assert [each.name for each in reporter._rollup.view().namespaces()] == ["team-a"]


async def test_a_leader_that_was_paused_past_its_lease_shows_no_roll_up(reporter: Reporter):
    """Another one may lead by then, and two leaders would contradict."""
    load_stack(reporter)
    run_pass(reporter)
    elector, series = reporter._leadership, "reporter_rollup_state{"
    assert isinstance(elector, Elector)
    elector._leading.set()
    elector._renewed_at = asyncio.get_running_loop().time()
    assert series in metrics_text(reporter.metrics)
    elector._renewed_at -= 60
    assert elector.is_leader
    assert series not in metrics_text(reporter.metrics)
