"""The plan of the store when its limits are reached."""

from datetime import timedelta

import pytest

from reporter.kinds.health_events import StoreLimit
from tests.support.builders import HOUR, NOON, a_key, an_active_verdict
from tests.support.health_events import a_health_event, a_spec, resolved
from tests.unit.history.test_plan import BBR, SETS, a_store, on_node, pods


def test_what_has_no_place_is_rejected_and_made_once_there_is_room():
    store = a_store(total=3)
    keys = [pods(number) for number in range(5)]
    store.replay.set_verdicts(*map(an_active_verdict, keys))
    assert [each.limit for each in store.write().rejections] == [StoreLimit.CLUSTER] * 2
    assert len(store.existing) == 3
    assert len(store.settle().plan().rejections) == 2
    store.replay.set_clear(keys[0]).advance(31)
    store.settle()
    assert len(store.plan().rejections) == 1
    assert "inferencesetPods Resolved Cleared" not in store.phases(), "it made room"


def test_causes_have_a_place_before_what_follows_from_them():
    store = a_store(total=1)
    store.replay.set_verdicts(an_active_verdict(pods(0)), an_active_verdict(BBR))
    assert store.settle().phases() == ["clusterBBR Active"]


def test_an_active_object_never_goes_for_another_one():
    store = a_store(total=1)
    store.replay.set_verdicts(an_active_verdict(pods(0)))
    store.settle().replay.set_verdicts(an_active_verdict(BBR))
    assert store.settle().phases() == ["inferencesetPods Active"]


def test_limit_of_a_node_is_of_that_node_alone():
    store = a_store(per_node=1)
    keys = [a_key("inferencesetPressure", each) for each in SETS[:3]]
    nodes = ("n1", "n1", "n2")
    store.replay.set_verdicts(
        *(an_active_verdict(key, on_node(node)) for key, node in zip(keys, nodes, strict=True))
    )
    assert [each.limit for each in store.write().rejections] == [StoreLimit.NODE]
    assert sorted(each.spec.node_name for each in store.existing.values()) == ["n1", "n2"]


@pytest.mark.parametrize(("age", "evicted"), [(30, ()), (90, ("b",))], ids=["soon", "stuck"])
def test_finalizer_that_holds_a_deleted_object_does_not_hold_up_others(age, evicted):
    store = a_store(total=2)
    deleted_at = NOON - timedelta(seconds=age)
    old = a_spec("clusterIstio", episode=1)
    store.existing["a"] = a_health_event("a", old, deleted_at=deleted_at, **resolved(deleted_at))
    store.existing["b"] = a_health_event("b", old, **resolved(NOON - HOUR))
    store.replay.set_verdicts(an_active_verdict(BBR))
    plan = store.plan()
    assert tuple(each.metadata.name for each in plan.deletes) == evicted
    assert (plan.creates, plan.rejections) == ((), ())
