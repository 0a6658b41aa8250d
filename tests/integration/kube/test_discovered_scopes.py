"""The scope of resources in discovery, and resources whose presence matters no longer."""

import asyncio
from dataclasses import replace

import pytest

from reporter.kube.discovery import discover
from tests.integration.kube.reflector_fixture import FAST_TIMING
from tests.integration.kube.test_discovery_loop import (
    GROUPS,
    KAITO,
    SELDOM,
    WANTED,
    WORKSPACES,
    a_group,
    aggregated,
    one_by_one,
    running_discovery,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    connected,
    serving,
    until,
)


NAME = "workspaces.kaito.sh"
DECLARED = replace(WORKSPACES, is_declared=True, namespaced=True, place="overlay.yaml:3")


def with_scope(scope: object) -> dict:
    group = a_group("kaito.sh", v1=["workspaces"])
    (version,) = group["versions"]
    version["resources"][0]["scope"] = scope
    return group


@pytest.mark.parametrize(
    ("scope", "namespaced"),
    [("Namespaced", {NAME: True}), ("Cluster", {NAME: False}), ("Galaxy", {}), ("", {})],
)
async def test_aggregated_discovery_has_scopes(tmp_path, scope, namespaced):
    async def handler(request):
        return aggregated(with_scope(scope))

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        found = await discover(api, GROUPS, previous=None)
    assert found.discovery.namespaced == namespaced
    assert found.discovery.served_versions == {NAME: ("v1",)}


async def test_group_by_group_a_resource_has_namespaces_or_not(tmp_path):
    def listed(**resources):
        named = [{"name": name, "namespaced": on} for name, on in resources.items()]
        return a_json_response({"kind": "APIResourceList", "resources": named})

    answers = {
        "/apis/kaito.sh/v1": listed(workspaces=True, regions=False),
        "/apis/kaito.sh/v1beta1": listed(workspaces=True),
    }
    async with (
        serving(one_by_one(answers)) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        found = await discover(api, GROUPS, previous=None)
    assert found.discovery.namespaced == {NAME: True, "regions.kaito.sh": False}


@pytest.mark.parametrize("scope", ["", "Namespaced", "Cluster"])
async def test_a_kind_is_misdeclared_if_an_answer_has_another_scope(tmp_path, scope):
    async def handler(request):
        return aggregated(with_scope(scope))

    async with running_discovery(tmp_path, handler, SELDOM) as (discovery, board):
        assert not discovery.why_misdeclared(DECLARED), "nothing is known yet"
        await until(lambda: NAME in last(board))
        found = discovery.why_misdeclared(DECLARED)
        assert bool(found) is (scope == "Cluster")
        assert not found or found.startswith(
            "overlay.yaml:3: Workspace is declared with namespaces"
        )
        assert not discovery.why_misdeclared(WORKSPACES), "a kind of the program is known"
        discovery.set_resources(["scaledobjects.keda.sh"])
        assert not discovery.why_misdeclared(DECLARED), "it is not tracked"


async def test_what_is_not_tracked_any_more_is_no_longer_discovered(tmp_path):
    async def handler(request):
        return aggregated(KAITO, a_group("keda.sh", v1alpha1=["scaledobjects"]))

    async with running_discovery(tmp_path, handler, FAST_TIMING) as (discovery, board):
        discovery.set_resources([*WANTED, "scaledobjects.keda.sh"])
        await until(lambda: "scaledobjects.keda.sh" in last(board))
        discovery.set_resources(WANTED)
        discovery.set_resources(["scaledobjects.keda.sh"])
        await until(lambda: last(board).keys() == {"scaledobjects.keda.sh"})


def last(board) -> dict:
    return board.recorded[-1].served_versions if board.recorded else {}


async def test_an_answer_about_more_than_is_tracked_counts(tmp_path):
    asked, answer = asyncio.Event(), asyncio.Event()

    async def handler(request):
        asked.set()
        await answer.wait()
        return aggregated(KAITO)

    async with running_discovery(tmp_path, handler, SELDOM) as (discovery, board):
        await asked.wait()
        discovery.set_resources(["workspaces.kaito.sh"])
        answer.set()
        await until(lambda: NAME in last(board))
