"""The watches of a process whose catalogue changes the kinds that it reads."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest_asyncio

from devcluster.http.faults.rules import Hang
from devcluster.server import DevCluster
from reporter.catalogue.entries import Catalogue
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.inputs import Inputs
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.model.observations import NotServed, NotSynced, Watching, WatchState
from reporter.process.clock import Clock
from tests.integration.kube.test_elector import api, server
from tests.support.background import running_beside
from tests.support.settings import settings
from tests.support.stubs.api_servers import until


__all__ = ["api", "server"]

CONFIG_MAPS, DECLARED = "configmaps", "configmaps/declared"
LISTS = r"/configmaps(?!.*watch=1)"


@pytest_asyncio.fixture
async def inputs(api: RestClient, server: DevCluster, tmp_path: Path) -> AsyncIterator[Inputs]:
    """The inputs of a process that watches the ConfigMaps of the test."""
    server.cluster.upsert(a_config_map("one"))
    first = reading(tmp_path, "object.data.one")
    found = Inputs(settings(), first, api, Clock(), count_scrape=lambda result: None)
    async with running_inputs(found):
        await until(lambda: state(found) == Watching())
        yield found


@asynccontextmanager
async def running_inputs(inputs: Inputs) -> AsyncIterator[None]:
    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for name, loop in inputs.tasks():
                group.create_task(loop, name=name)

    async with running_beside(run(), "inputs"):
        yield


def reading(folder: Path, field: str, **kind: str) -> Catalogue:
    """Return a catalogue with a reason whose expression reads a field."""
    file = folder / "overlay.yaml"
    declared = {"kind": "ConfigMap", "resource": "configmaps", **kind}
    entry = {
        "reason": "clusterSettingWrong",
        "layer": "cluster",
        "type": "Warning",
        "owner": "user",
        "rank": 90,
        "probe": "cel",
        "parameters": {"kind": "ConfigMap", "current": f'{field} == "yes"'},
        "message": "{object} {state}.",
        "remedy": {"default": "Correct it."},
    }
    file.write_text(json.dumps({"kinds": [declared], "add": [entry]}))
    return load_shipped_catalogue(file)


def a_config_map(name: str, **labels: str) -> dict[str, object]:
    meta = {"name": name, "namespace": "default", "labels": labels}
    data = {"one": "yes", "two": "yes", "three": "yes"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def own(inputs: Inputs, name: str = DECLARED) -> ResourceKind:
    return next(kind for kind in inputs.store.kinds if kind.watch_name == name)


def state(inputs: Inputs) -> WatchState:
    return inputs.store.snapshot().tables[DECLARED].watch_state


def stored(inputs: Inputs) -> dict[str, type]:
    """Return the types of the stored ConfigMaps by name."""
    found = inputs.store.snapshot().tables[DECLARED].objects.values()
    return {each.metadata.name: type(each) for each in found}


def watches() -> list[str]:
    """Return the names of the tasks that watch ConfigMaps of the test."""
    return [n for each in asyncio.all_tasks() if DECLARED in (n := each.get_name())]


async def test_a_kind_that_is_read_in_another_way_is_listed_anew(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    before = own(inputs)
    for number in range(20):
        server.cluster.upsert(a_config_map(f"under-way-{number}"))
    await asyncio.sleep(0)  # some of their events may be on their way
    inputs.prepare_catalogue(reading(tmp_path, "object.data.two"))()
    assert own(inputs) != before
    assert state(inputs) == NotSynced()
    assert stored(inputs)["one"] is before.type
    await until(lambda: state(inputs) == Watching())
    assert watches() == [f"reflector {DECLARED}"]
    assert stored(inputs).keys() == {"one", *(f"under-way-{number}" for number in range(20))}
    assert {*stored(inputs).values()} == {own(inputs).type}
    server.cluster.upsert(a_config_map("later"))
    await until(lambda: "later" in stored(inputs))
    assert stored(inputs)["later"] is own(inputs).type
    assert state(inputs) == Watching()


async def test_a_second_change_while_the_list_is_under_way_replaces_the_first(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    hang = server.faults.add(Hang(), path=LISTS)
    inputs.prepare_catalogue(reading(tmp_path, "object.data.two"))()
    await until(lambda: hang.hits > 0)
    inputs.prepare_catalogue(reading(tmp_path, "object.data.three"))()
    await until(lambda: hang.hits > 1)
    assert state(inputs) == NotSynced()
    assert stored(inputs).keys() == {"one"}
    server.faults.clear(hang)
    await until(lambda: state(inputs) == Watching())
    assert stored(inputs) == {"one": own(inputs).type}
    assert watches() == [f"reflector {DECLARED}"]


async def test_a_change_back_while_the_list_is_under_way_is_listed_as_well(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    first = own(inputs)
    hang = server.faults.add(Hang(), path=LISTS)
    inputs.prepare_catalogue(reading(tmp_path, "object.data.two"))()
    await until(lambda: hang.hits > 0)
    server.cluster.delete(CONFIG_MAPS, "default", "one")
    inputs.prepare_catalogue(reading(tmp_path, "object.data.one"))()
    assert own(inputs) == first
    assert (state(inputs), stored(inputs).keys()) == (NotSynced(), {"one"})
    server.faults.clear(hang)
    await until(lambda: state(inputs) == Watching())
    assert stored(inputs) == {}


async def test_another_selector_without_the_right_to_list_leaves_the_objects(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    server.cluster.upsert(a_config_map("labelled", app="chat"))
    await until(lambda: "labelled" in stored(inputs))
    denial = server.deny("list", "", CONFIG_MAPS)
    selected = reading(tmp_path, "object.data.one", **{"label-selector": "app=chat"})
    inputs.prepare_catalogue(selected)()

    def is_refused() -> bool:
        now = state(inputs)
        return isinstance(now, NotSynced) and now.refused

    await until(is_refused)
    assert "may not list configmaps" in str(state(inputs))
    assert stored(inputs).keys() == {"one", "labelled"}
    server.allow(denial)
    await until(lambda: state(inputs) == Watching())
    assert stored(inputs) == {"labelled": own(inputs).type}


async def test_a_kind_that_is_not_served_stays_so(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    group = {"group": "example.com", "version": "v1"}
    name = "configmaps.example.com"
    for field in ("object.data.one", "object.data.two"):
        inputs.prepare_catalogue(reading(tmp_path, field, **group))()
        tables = inputs.store.snapshot().tables
        assert DECLARED not in tables
        assert isinstance(tables[name].watch_state, NotSynced)
        await until(lambda: inputs.store.snapshot().tables[name].watch_state == NotServed())
    assert watches() == []


async def test_a_kind_that_nothing_needs_any_more_is_watched_no_more(
    inputs: Inputs, server: DevCluster, tmp_path: Path
):
    shipped = load_shipped_catalogue()
    inputs.prepare_catalogue(shipped)()
    await until(lambda: watches() == [])
    assert DECLARED not in inputs.store.snapshot().tables
    assert DECLARED not in {each.kind for each in inputs.report().watches}
    inputs.prepare_catalogue(reading(tmp_path, "object.data.one"))()
    assert stored(inputs) == {}
    await until(lambda: state(inputs) == Watching())
    assert stored(inputs).keys() == {"one"}
