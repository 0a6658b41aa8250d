"""All probes of control-plane Deployments on the example stack, as an API server returns it."""

import msgspec
import pytest

from devcluster.example import stack
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.verdicts import Clear
from reporter.probes import deployments
from reporter.store.store import Store
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, SUBJECTS, a_probe_request
from tests.support.probe_verdicts import verdicts_of_request


REASONS = [
    entry.reason
    for entry in DEFAULT_CATALOGUE.evaluated_entries(Layer.CLUSTER)
    if entry.probe == deployments.PROBE.spec.name
]
BY_KIND = {kind.kind: kind for kind in DEFAULT_KINDS}


@pytest.mark.parametrize("reason", REASONS)
def test_the_example_stack_has_every_component(reason):
    store = Store(DEFAULT_KINDS, subjects=SUBJECTS)
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    for manifest in stack.manifests(NOON):
        if manifest["kind"] in BY_KIND:
            known = BY_KIND[manifest["kind"]]
            encoded = msgspec.json.encode(manifest)
            store.upsert(known, msgspec.json.decode(encoded, type=known.type))
    verdicts = verdicts_of_request(a_probe_request(reason), store)
    assert verdicts
    assert all(isinstance(each, Clear) for each in verdicts), verdicts
