"""Kinds and CRDs that a change of the catalogue adds to a store."""

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.observations import DiscoveryResult, NotSynced, Watching
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store
from tests.support.builders import MINUTE, NOON, a_deployment, a_store
from tests.support.catalogue_fixture import SUBJECTS


CRD, OTHER = "inferencesets.kaito.sh", "workspaces.kaito.sh"


def test_a_kind_that_is_added_is_unknown_until_it_is_listed():
    store = Store((NAMESPACES,), subjects=SUBJECTS)
    store.take_dirty()
    store.prepare_kinds((NAMESPACES, DEPLOYMENTS, INFERENCE_SETS), (CRD,), SUBJECTS)()
    assert store.kinds == (NAMESPACES, DEPLOYMENTS, INFERENCE_SETS)
    assert store.take_dirty() == ALL_LAYERS
    assert store.snapshot().tables[DEPLOYMENTS.resource].watch_state == NotSynced()
    assert store.snapshot().presence(CRD).versions is None
    store.set_watch_state(DEPLOYMENTS, Watching())
    store.upsert(DEPLOYMENTS, a_deployment())
    assert len(list(store.snapshot().all(DEPLOYMENTS))) == 1


def test_what_is_known_of_a_crd_stays_when_others_are_added():
    store = a_store(crds=(CRD,))
    store.record_discovery(DiscoveryResult({CRD: ("v1",)}), now=NOON)
    store.prepare_kinds(store.kinds, (CRD, OTHER), SUBJECTS)()
    assert store.snapshot().presence(CRD).versions == ("v1",)


def test_what_is_known_of_a_crd_is_forgotten_with_the_last_reason_that_needs_it():
    store = a_store(crds=(CRD, OTHER))
    for later in range(2):
        answer = DiscoveryResult({CRD: ("v1",), OTHER: ("v1",)} if not later else {CRD: ("v1",)})
        store.record_discovery(answer, now=NOON + later * MINUTE)
    assert store.has_unconfirmed_loss, "a second discovery would have to follow"
    store.prepare_kinds(store.kinds, (CRD,), SUBJECTS)()
    assert not store.has_unconfirmed_loss
    assert store.snapshot().presences.keys() == {CRD}
    store.prepare_kinds(store.kinds, (CRD, OTHER), SUBJECTS)()
    assert store.snapshot().presence(OTHER).versions is None
