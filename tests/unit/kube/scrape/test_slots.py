"""
Who gets a place, and when.
"""

from reporter.kube.scrape.slots import SlotPool


SURE, OTHERS = 0, 1


def entering(room: SlotPool[str]) -> list[str]:
    """
    All who may come in now.
    """
    return [guest for guest, _ in iter(room.acquire, None)]


def asked(room: SlotPool[str], group: int, *names: str) -> SlotPool[str]:
    for name in names:
        room.enqueue(name, group)
    return room


def test_who_asks_first_is_let_in_first():
    room = asked(SlotPool(3, (3, 2)), SURE, *"abcd")
    assert entering(room) == ["a", "b", "c"]
    room.release(SURE)
    assert entering(room) == ["d"]


def test_who_leaves_makes_room_and_nobody_comes_in_twice():
    room = asked(SlotPool(1, (1, 1)), SURE, "a")
    assert room.acquire() == ("a", SURE)
    assert room.acquire() is None
    room.release(SURE)
    assert room.acquire() is None


def test_the_lowest_rank_goes_first_among_those_that_wait():
    room = SlotPool[str](3, (3, 3))
    for name, rank in {"late": 2.0, "first": -7.0, "later": 2.0, "second": 0.0}.items():
        room.enqueue(name, OTHERS, (rank,))
    assert entering(room) == ["first", "second", "late"]
    room.release(OTHERS)
    assert entering(room) == ["later"]


def test_one_group_leaves_places_to_the_other_however_many_it_is():
    room = asked(SlotPool(5, (4, 3)), OTHERS, *"abcdefgh")
    assert entering(room) == ["a", "b", "c"]
    assert entering(asked(room, SURE, *"xyz")) == ["x", "y"]


def test_groups_take_turns_and_none_ever_has_all():
    room = asked(asked(SlotPool(5, (4, 3)), OTHERS, *"abcdef"), SURE, *"uvwxyz")
    assert entering(room) == ["u", "a", "v", "b", "w"]
    room.release(SURE)
    assert entering(room) == ["c"]
    room.release(OTHERS)
    room.release(SURE)
    assert entering(room) == ["x", "d"]


def test_who_waits_alone_has_every_place_of_its_group_at_once():
    room = asked(SlotPool(5, (4, 3)), SURE, *"abcdef")
    assert entering(room) == ["a", "b", "c", "d"]
