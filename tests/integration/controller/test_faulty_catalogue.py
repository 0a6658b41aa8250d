"""The inputs of a process while a fault keeps them from reading what another catalogue needs."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from devcluster.server import DevCluster
from reporter.catalogue.entries import Catalogue
from reporter.controller.inputs import Inputs
from reporter.model.observations import Watching
from tests.integration.controller.test_changed_kinds import (
    a_config_map,
    inputs,
    own,
    reading,
    state,
    stored,
    watches,
)
from tests.integration.kube.test_elector import api, server
from tests.support.faulty_catalogues import with_faulty_keys, with_faulty_scrape
from tests.support.setting_reason import SETTING
from tests.support.stubs.api_servers import until


__all__ = ["api", "inputs", "server"]

FAULTS: dict[str, Callable[[Catalogue], Catalogue]] = {
    "objects that are taken over": lambda each: with_faulty_keys(each, SETTING),
    "metrics that are read": with_faulty_scrape,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_fault_changes_nothing_of_what_is_read(
    inputs: Inputs, server: DevCluster, tmp_path: Path, fault: Callable
):
    kind, kinds, permissions = own(inputs), inputs.store.kinds, inputs.describe_permissions()
    tasks = {each for each in asyncio.all_tasks() if each.get_name() in watches()}
    inputs.store.take_dirty()
    with pytest.raises((RuntimeError, AttributeError)):
        inputs.prepare_catalogue(fault(reading(tmp_path, "object.data.two")))()
    assert (own(inputs), inputs.store.kinds) == (kind, kinds)
    assert inputs.describe_permissions() == permissions
    assert inputs.store.take_dirty() == frozenset()
    assert (state(inputs), stored(inputs)) == (Watching(), {"one": kind.type})
    server.cluster.upsert(a_config_map("later"))
    await until(lambda: stored(inputs) == {"one": kind.type, "later": kind.type})
    assert {each for each in asyncio.all_tasks() if each.get_name() in watches()} == tasks


async def test_a_right_catalogue_is_read_after_a_fault(inputs: Inputs, tmp_path: Path):
    before, catalogue = own(inputs), reading(tmp_path, "object.data.two")
    with pytest.raises(RuntimeError):
        inputs.prepare_catalogue(with_faulty_keys(catalogue, SETTING))
    inputs.prepare_catalogue(catalogue)()
    assert own(inputs) != before
    await until(lambda: state(inputs) == Watching())
    assert stored(inputs) == {"one": own(inputs).type}
