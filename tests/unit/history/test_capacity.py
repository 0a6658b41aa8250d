"""The limits: what is created, what waits for a deletion, and what is rejected."""

from reporter.history.capacity import Capacity, Placement, StorePlace
from reporter.kinds.health_events import StoreLimit, StoreLimits


LIMITS = StoreLimits(per_node=2, total=4)


def a_capacity(*there: StorePlace, leaving=(), evictable=(), limits=LIMITS) -> Capacity:
    return Capacity(limits, there=there, leaving=leaving, evictable=evictable)


def on(node: str, *names: str) -> list[StorePlace]:
    return [StorePlace(name, node) for name in names]


def test_objects_are_created_up_to_the_limit_of_the_cluster():
    capacity = a_capacity(*on("", "a", "b"))
    assert [capacity.take("") for _ in range(3)] == [
        Placement.NOW,
        Placement.NOW,
        StoreLimit.CLUSTER,
    ]


def test_objects_are_created_up_to_the_limit_of_their_node():
    capacity = a_capacity(*on("n1", "a"))
    assert [capacity.take("n1") for _ in range(2)] == [Placement.NOW, StoreLimit.NODE]
    assert capacity.take("n2") is Placement.NOW


def test_the_limit_of_a_node_is_not_that_of_objects_without_one():
    capacity = a_capacity()
    assert [capacity.take("") for _ in range(4)] == [Placement.NOW] * 4


def test_the_oldest_that_is_over_goes_for_another_one():
    there = on("", "a", "b", "c", "d")
    capacity = a_capacity(*there, evictable=[there[1], there[3]])
    assert [capacity.take("") for _ in range(3)] == [
        Placement.LATER,
        Placement.LATER,
        StoreLimit.CLUSTER,
    ]
    assert capacity.evicted == ["b", "d"]


def test_only_one_of_the_same_node_makes_room_on_a_node():
    there = [*on("n1", "a", "b"), *on("n2", "c")]
    capacity = a_capacity(*there, evictable=[there[2], there[1]])
    assert capacity.take("n1") is Placement.LATER
    assert capacity.evicted == ["b"]
    assert capacity.take("n1") is StoreLimit.NODE


def test_what_is_being_deleted_makes_room_before_anything_else_goes():
    there = on("", "a", "b", "c", "d")
    capacity = a_capacity(*there, leaving=there[:1], evictable=there[1:2])
    assert [capacity.take("") for _ in range(2)] == [Placement.LATER, Placement.LATER]
    assert capacity.evicted == ["b"]


def test_an_object_that_leaves_a_node_frees_a_place_for_one_object_alone():
    there = on("n1", "a", "b")
    capacity = a_capacity(*there, leaving=there[:1])
    assert [capacity.take("n1") for _ in range(2)] == [Placement.LATER, StoreLimit.NODE]


def test_nothing_goes_for_an_object_that_has_a_place():
    there = on("", "a", "b", "c")
    capacity = a_capacity(*there, evictable=there)
    capacity.shrink()
    assert capacity.take("") is Placement.NOW
    assert capacity.evicted == []


def test_what_is_above_limits_that_were_lowered_goes_if_it_is_over():
    there = [*on("n1", "a", "b", "c"), *on("", "d", "e", "f")]
    capacity = a_capacity(*there, evictable=there[:4])
    capacity.shrink()
    assert capacity.evicted == ["a", "b"]
    assert capacity.take("") is Placement.LATER or capacity.evicted == ["a", "b", "c"]
