"""
Kinds that a catalogue declares with another scope than the API server has, and CRDs that it tracks.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

from devcluster.server import DevCluster
from reporter.catalogue.entries import Catalogue
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.inputs import Inputs
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES
from reporter.kube.client import RestClient
from reporter.model.observations import NotServed, NotSynced, Watching, WatchState
from reporter.process.clock import Clock
from tests.integration.controller.test_changed_kinds import running_inputs
from tests.integration.kube.test_elector import api, server
from tests.support.settings import settings
from tests.support.stubs.api_servers import until as until_within


__all__ = ["api", "server"]

GADGETS = "gadgets.example.com"
until = partial(until_within, within=60)


def a_crd(scope: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"}
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": GADGETS},
        "spec": {"group": "example.com", "scope": scope, "names": names, "versions": [served]},
    }


def declaring(folder: Path, *, namespaced: bool) -> Catalogue:
    """Return a catalogue with a reason about Gadgets, which its overlay declares in line 2."""
    entry = {
        "reason": "clusterGadgetBroken",
        "layer": "cluster",
        "type": "Warning",
        "owner": "user",
        "rank": 90,
        "probe": "cel",
        "parameters": {"kind": "Gadget", "current": "object.spec.ok"},
        "message": "{object} {state}.",
        "remedy": {"default": "Correct it."},
    }
    kind: dict[str, object] = {"kind": "Gadget", "group": "example.com", "resource": "gadgets"}
    kind |= {} if namespaced else {"namespaced": False}
    file = folder / "overlay.yaml"
    file.write_text(f"kinds:\n  - {json.dumps(kind)}\nadd: {json.dumps([entry])}\n")
    return load_shipped_catalogue(file)


def inputs_of(api: RestClient, catalogue: Catalogue, *flags: str) -> Inputs:
    return Inputs(settings(*flags), catalogue, api, Clock(), count_scrape=lambda result: None)


def state(inputs: Inputs) -> WatchState:
    return inputs.store.snapshot().tables[GADGETS].watch_state


def is_watching(inputs: Inputs) -> bool:
    (report,) = [each for each in inputs.report().watches if each.kind == GADGETS]
    return report.watching


async def test_a_crd_with_another_scope_that_comes_later_is_named_and_not_read(
    api: RestClient, server: DevCluster, tmp_path: Path, caplog: Any
):
    inputs = inputs_of(api, declaring(tmp_path, namespaced=True))
    async with running_inputs(inputs):
        await until(lambda: state(inputs) == NotServed())
        server.cluster.upsert(a_crd("Cluster"))
        await until(lambda: isinstance(state(inputs), NotSynced))
        why = (
            f"{tmp_path / 'overlay.yaml'}:2: Gadget is declared with namespaces, and has none;"
            " add `namespaced: false`"
        )
        assert state(inputs) == NotSynced(why, refused=True)
        await until(lambda: f"{GADGETS}: not watched: {why}" in caplog.text)
        assert not is_watching(inputs)
        assert GADGETS not in inputs.store.kinds_waited_for()
        inputs.prepare_catalogue(declaring(tmp_path, namespaced=False))()
        await until(lambda: state(inputs) == Watching())
        assert is_watching(inputs)
    assert caplog.text.count(why) == 1


async def test_a_kind_that_is_declared_without_namespaces_and_has_them_is_named_at_the_start(
    api: RestClient, server: DevCluster, tmp_path: Path
):
    server.cluster.upsert(a_crd("Namespaced"))
    inputs = inputs_of(api, declaring(tmp_path, namespaced=False))
    async with running_inputs(inputs):
        await until(lambda: isinstance(state(inputs), NotSynced) and state(inputs) != NotSynced())
        assert "has them; remove `namespaced: false`" in str(state(inputs))


async def test_the_crds_of_an_overlay_that_is_removed_are_not_tracked_any_more(
    api: RestClient, server: DevCluster, tmp_path: Path
):
    server.cluster.upsert(a_crd("Namespaced"))
    with_gadgets, without = declaring(tmp_path, namespaced=True), load_shipped_catalogue()
    inputs = inputs_of(api, without, "--status-objects")
    before = set(inputs.store.snapshot().presences)
    written = PRODUCTION_STACK_STATUSES.group_resource
    assert written in before
    async with running_inputs(inputs):
        inputs.prepare_catalogue(with_gadgets)()
        await until(lambda: inputs.store.snapshot().presence(GADGETS).versions == ("v1",))
        inputs.prepare_catalogue(without)()
        assert set(inputs.store.snapshot().presences) == before, "also those that are written"
        inputs.prepare_catalogue(with_gadgets)()
        await until(lambda: state(inputs) == Watching())
