"""The words about the replicas of an InferenceSet and their limit."""

import pytest

from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.model.observations import NotServed, NotSynced
from reporter.resources.autoscaling import describe_replica_limit
from tests.support.model_builders import TEAM, a_set, a_team
from tests.support.source_builders import HPA, a_scaled_object, a_store, an_autoscaler


METRICS = "[{name: queue, type: gauge, upthreshold: 10, downthreshold: 1}]"
SCALING = {"auto-provision": "true", "max-replicas": "4", "metrics": METRICS}
ANNOTATED = "it has 1 of at most 4 replicas"


def text(inference_set, *objects, unwatched=(), **changes):
    store = a_store(a_team(), inference_set, *objects, **changes)
    return describe_replica_limit(
        store.snapshot(), inference_set, dict.fromkeys(unwatched, "lost")
    )


@pytest.mark.parametrize(
    ("inference_set", "expected"),
    [
        (a_set(1), "it has 1 replica, and no annotation scales it"),
        (a_set(2), "it has 2 replicas, and no annotation scales it"),
        (a_set(1, scaling=SCALING), ANNOTATED),
        (a_set(4, scaling=SCALING), "it has 4 replicas, the maximum of its autoscaler"),
        (a_set(6, scaling=SCALING), "it has 6 replicas, the maximum of its autoscaler"),
        (a_set(2, scaling={**SCALING, "max-replicas": "many"}), "it has 2 replicas"),
        (a_set(2, scaling={**SCALING, "max-replicas": "1"}), "it has 2 replicas"),
        (a_set(2, scaling={**SCALING, "metrics": ""}), "it has 2 replicas"),
        (
            a_set(2, scaling=SCALING, limit=8),
            "it has 2 replicas, and spec.nodeCountLimit allows 8 nodes",
        ),
    ],
)
def test_without_autoscalers_the_annotations_count(inference_set, expected):
    assert text(inference_set) == expected


@pytest.mark.parametrize(
    ("replicas", "scaling", "expected"),
    [
        (1, SCALING, "it has 1 of at most 3 replicas"),
        (3, SCALING, "it has 3 replicas, the maximum of its autoscaler"),
        (3, {}, "it has 3 replicas, the maximum of its autoscaler"),
    ],
)
def test_the_autoscaler_counts_more_than_the_annotations(replicas, scaling, expected):
    objects = a_scaled_object(), an_autoscaler(max_replicas=3)
    assert text(a_set(replicas, scaling=scaling), *objects) == expected


def test_an_autoscaler_without_a_maximum_is_none():
    objects = a_scaled_object(), an_autoscaler()
    assert text(a_set(1, scaling=SCALING), *objects) == ANNOTATED
    assert text(a_set(1), *objects) == "it has 1 replica"


@pytest.mark.parametrize("kind", [SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS])
def test_of_an_autoscaler_that_cannot_be_read_nothing_is_claimed(kind):
    objects = a_set(1, scaling=SCALING), a_scaled_object(), an_autoscaler(max_replicas=1)
    assert text(*objects, unwatched=(kind.resource,)) == ANNOTATED
    states = ({kind: state} for state in (NotSynced("forbidden"), NotServed()))
    assert {text(*objects, watch_states=state) for state in states} == {ANNOTATED}


def test_of_an_autoscaler_that_cannot_be_decoded_nothing_is_claimed():
    inference_set = a_set(1, scaling=SCALING)
    store = a_store(a_team(), inference_set, a_scaled_object(), an_autoscaler(max_replicas=1))
    store.mark_undecodable(HORIZONTAL_POD_AUTOSCALERS, TEAM, HPA, None)
    assert describe_replica_limit(store.snapshot(), inference_set, {}) == ANNOTATED
