"""
Who gets a place, and when.
"""

from reporter.kube.room import Room


SURE, OTHERS = 0, 1


def entering(room: Room[str]) -> list[str]:
    """
    All who may come in now.
    """
    return [guest for guest, _ in iter(room.enter, None)]


def asked(room: Room[str], group: int, *names: str) -> Room[str]:
    for name in names:
        room.ask(name, group)
    return room


def test_who_asks_first_is_let_in_first():
    room = asked(Room(3, (3, 2)), SURE, *"abcd")
    assert entering(room) == ["a", "b", "c"]
    room.leave(SURE)
    assert entering(room) == ["d"]


def test_who_leaves_makes_room_and_nobody_comes_in_twice():
    room = asked(Room(1, (1, 1)), SURE, "a")
    assert room.enter() == ("a", SURE)
    assert room.enter() is None
    room.leave(SURE)
    assert room.enter() is None


def test_the_lowest_rank_goes_first_among_those_that_wait():
    room = Room[str](3, (3, 3))
    for name, rank in {"late": 2.0, "first": -7.0, "later": 2.0, "second": 0.0}.items():
        room.ask(name, OTHERS, (rank,))
    assert entering(room) == ["first", "second", "late"]
    room.leave(OTHERS)
    assert entering(room) == ["later"]


def test_one_group_leaves_places_to_the_other_however_many_it_is():
    room = asked(Room(5, (4, 3)), OTHERS, *"abcdefgh")
    assert entering(room) == ["a", "b", "c"]
    assert entering(asked(room, SURE, *"xyz")) == ["x", "y"]


def test_groups_take_turns_and_none_ever_has_all():
    room = asked(asked(Room(5, (4, 3)), OTHERS, *"abcdef"), SURE, *"uvwxyz")
    assert entering(room) == ["u", "a", "v", "b", "w"]
    room.leave(SURE)
    assert entering(room) == ["c"]
    room.leave(OTHERS)
    room.leave(SURE)
    assert entering(room) == ["x", "d"]


def test_who_waits_alone_has_every_place_of_its_group_at_once():
    room = asked(Room(5, (4, 3)), SURE, *"abcdef")
    assert entering(room) == ["a", "b", "c", "d"]
