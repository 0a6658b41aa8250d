from hypothesis import given
from hypothesis import strategies as st

from reporter.stages.snapshot.cow_map import CowMap


CHANGES = st.lists(st.tuples(st.integers(0, 600), st.none() | st.integers()), max_size=60)


@given(before=CHANGES, after=CHANGES)
def test_it_is_a_map_whose_views_never_change(before, after):
    plain: dict = {}
    sharded: CowMap = CowMap()
    for changes in (before, after):
        frozen, seen = sharded.freeze(), dict(plain)
        for key, value in changes:
            if value is None:
                assert sharded.pop(key) == plain.pop(key, None)
            else:
                sharded[key] = plain[key] = value
        assert {key: frozen.get(key) for key in frozen.keys()} == seen  # noqa: SIM118
        assert sorted(frozen.values()) == sorted(seen.values())
        assert len(frozen) == len(seen)
    assert {key: sharded.get(key) for key in sharded.keys()} == plain  # noqa: SIM118
    assert len(sharded) == len(plain)


def test_what_is_not_there_is_none():
    assert CowMap().get("x") is None
    assert CowMap().pop("x") is None
    assert CowMap().freeze().get("x") is None
