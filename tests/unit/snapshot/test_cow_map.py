from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st

from reporter.snapshot.cow_map import BoundedMap, CowMap


CHANGES = st.lists(st.tuples(st.integers(0, 600), st.none() | st.integers()), max_size=60)


@given(before=CHANGES, after=CHANGES)
def test_a_cow_map_behaves_like_a_dict_and_its_views_never_change(before, after):
    plain: dict = {}
    sharded: CowMap = CowMap()
    for changes in (before, after):
        frozen, expected = sharded.freeze(), dict(plain)
        for key, value in changes:
            if value is None:
                assert sharded.pop(key) == plain.pop(key, None)
            else:
                sharded[key] = plain[key] = value
        assert {key: frozen.get(key) for key in frozen.keys()} == expected  # noqa: SIM118
        assert sorted(frozen.values()) == sorted(expected.values())
        assert len(frozen) == len(expected)
    assert {key: sharded.get(key) for key in sharded.keys()} == plain  # noqa: SIM118
    assert len(sharded) == len(plain)


def test_a_missing_key_gives_none():
    assert CowMap().get("x") is None
    assert CowMap().pop("x") is None
    assert CowMap().freeze().get("x") is None


def test_a_view_is_shared_until_the_next_write():
    sharded: CowMap = CowMap()
    empty = sharded.freeze()
    assert sharded.freeze() is empty
    sharded["x"] = 1
    with_x = sharded.freeze()
    assert sharded.freeze() is with_x
    sharded.pop("x")
    assert (sharded.freeze().get("x"), with_x.get("x"), empty.get("x")) == (None, 1, None)


def test_a_value_of_a_view_is_computed_once_and_anew_after_a_write():
    calls = []

    def count(view):
        calls.append(view)
        return len(view)

    sharded: CowMap = CowMap()
    sharded["x"] = 1
    assert [sharded.freeze().derive(count) for _ in range(3)] == [1, 1, 1]
    before = sharded.freeze()
    sharded["y"] = 2
    assert (before.derive(count), sharded.freeze().derive(count)) == (1, 2)
    assert len(calls) == 2
    assert sharded.freeze().derive(len) == 2, "another function is another value"


def test_a_missing_key_is_taken_out_without_a_new_view():
    sharded: CowMap = CowMap()
    sharded["x"] = 1
    view = sharded.freeze()
    sharded.pop("y")
    assert sharded.freeze() is view


@given(changes=CHANGES)
def test_a_bounded_map_forgets_the_keys_that_came_first(changes):
    plain: dict = {}
    bounded: CowMap = BoundedMap(5)
    for key, value in changes:
        if value is None:
            assert bounded.pop(key) == plain.pop(key, None)
        else:
            bounded[key] = plain[key] = value
            if len(plain) > 5:
                del plain[next(iter(plain))]
        frozen = bounded.freeze()
        assert {each: frozen.get(each) for each in bounded.keys()} == plain  # noqa: SIM118
        assert len(bounded) == len(frozen) == len(plain)


def test_to_compact_changes_nothing_and_frees_what_deleted_keys_took():
    sharded: CowMap = CowMap()
    for number in range(10_000):
        sharded[number] = number
    for number in range(9_990):
        sharded.pop(number)
    view, took = sharded.freeze(), sum(map(getsizeof, sharded.shards))
    sharded.compact()
    assert sum(map(getsizeof, sharded.shards)) < took / 10
    sharded["x"] = 1
    assert sorted(sharded.freeze().keys(), key=str) == [*range(9_990, 10_000), "x"]
    assert len(view) == 10
    assert sharded.get(3) is None
