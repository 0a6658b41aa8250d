"""A layer whose subjects cannot all be known is Unknown in every reason."""

from datetime import timedelta

import pytest

from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.core import NAMESPACES
from reporter.kinds.gateway_api import GATEWAYS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Layer
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchLost
from reporter.model.subjects import Subject
from reporter.snapshot.subjects import ALL_LAYERS
from tests.support.builders import NOON, SECOND, a_store
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    DEFAULT_FLAGS,
    entries_called_by_default,
)
from tests.support.model_builders import a_model


EVALUATOR = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings())
SETS = INFERENCE_SETS.group_resource
HARNESSES, MODELS = Layer.MODELHARNESS, Layer.MODELDEPLOYMENT
FORBIDDEN = NotSynced("may not list it", refused=True)


def evaluate(store, now=NOON, before=None) -> Evaluation:
    return EVALUATOR.evaluate(before or Evaluation(), store.snapshot(), ALL_LAYERS, now=now)


def unknown_layers(evaluation: Evaluation) -> set[Layer]:
    """Return the layers whose placeholder is Unknown in every reason, with a reason why."""
    found: dict[Subject, set[str]] = {Subject(layer): set() for layer in (HARNESSES, MODELS)}
    for key, state in evaluation.tracked.unknown_states.items():
        if key.subject in found:
            assert state.why
            found[key.subject].add(key.reason)
    complete = {
        subject.layer
        for subject, reasons in found.items()
        if reasons == {e.reason for e in entries_called_by_default(subject.layer)}
    }
    assert complete == {subject.layer for subject, reasons in found.items() if reasons}
    assert complete == {s.layer for s in found if s in evaluation.subjects}
    return complete


@pytest.mark.parametrize("objects", [[], a_model()], ids=["no-objects", "objects-of-before"])
@pytest.mark.parametrize(
    ("kind", "layers"),
    [(NAMESPACES, {HARNESSES, MODELS}), (GATEWAYS, {HARNESSES}), (INFERENCE_SETS, {MODELS})],
    ids=lambda each: getattr(each, "resource", ""),
)
def test_without_a_kind_that_makes_subjects_the_layer_is_unknown(kind, layers, objects):
    store = a_store(*objects)
    assert unknown_layers(evaluate(store)) == set()
    store.set_watch_state(kind, FORBIDDEN)
    assert unknown_layers(evaluate(store)) == layers
    store.set_watch_state(kind, Watching())
    assert unknown_layers(evaluate(store)) == set()


def test_a_lost_watch_makes_the_layer_unknown_once_it_lasts():
    store = a_store()
    store.set_watch_state(INFERENCE_SETS, WatchLost(NOON, "connection reset"))
    early = evaluate(store, NOON + 29 * SECOND)
    assert unknown_layers(early) == set()
    later = evaluate(store, NOON + 30 * SECOND, early)
    assert unknown_layers(later) == {MODELS}
    assert EVALUATOR.next_deadline(early, store.snapshot(), now=NOON) == NOON + 30 * SECOND


def discovered(*versions: str) -> DiscoveryResult:
    return DiscoveryResult({SETS: versions} if versions else {})


def a_store_with_discovery(*results: DiscoveryResult):
    """
    Return a store that tracks InferenceSets, of which the API server answers the list with 404.
    """
    store = a_store(crds=(SETS,))
    for number, result in enumerate(results):
        store.record_discovery(result, now=NOON + number * timedelta(minutes=1))
    store.set_watch_state(INFERENCE_SETS, NotServed())
    return store


def test_a_kind_that_discovery_lacks_as_well_leaves_no_doubt():
    store = a_store_with_discovery(discovered(), discovered())
    assert unknown_layers(evaluate(store)) == set()


def test_a_kind_served_only_in_versions_that_cannot_be_read_hides_its_objects():
    store = a_store_with_discovery(discovered("v2"))
    evaluation = evaluate(store)
    assert unknown_layers(evaluation) == {MODELS}
    assert {s.why for s in evaluation.tracked.unknown_states.values()} >= {
        f"{SETS} not listed yet: served as v2 only, this release reads v1beta1 and v1alpha1"
    }


def test_a_404_that_discovery_contradicts_proves_nothing():
    store = a_store_with_discovery(discovered("v1beta1"))
    assert unknown_layers(evaluate(store)) == set(), "discovery may be the older answer"
    store.record_discovery(discovered("v1beta1"), now=NOON)
    assert unknown_layers(evaluate(store)) == {MODELS}
    store.set_watch_state(INFERENCE_SETS, Watching())
    assert unknown_layers(evaluate(store)) == set()


def test_a_404_before_any_discovery_proves_nothing():
    assert unknown_layers(evaluate(a_store_with_discovery())) == {MODELS}


def test_no_api_server_lacks_namespaces():
    store = a_store()
    store.set_watch_state(NAMESPACES, NotServed())
    assert unknown_layers(evaluate(store)) == {HARNESSES, MODELS}
