"""The order in which waiters get slots."""

from reporter.scrape.turns import SlotPool


FIRST, OTHERS = 0, 1


def acquire_all(pool: SlotPool[str]) -> list[str]:
    """Return all waiters that get a slot now."""
    return [waiter for waiter, _ in iter(pool.acquire, None)]


def with_waiters(pool: SlotPool[str], group: int, *names: str) -> SlotPool[str]:
    for name in names:
        pool.enqueue(name, group)
    return pool


def test_waiters_are_served_in_order():
    pool = with_waiters(SlotPool(3, (3, 2)), FIRST, *"abcd")
    assert acquire_all(pool) == ["a", "b", "c"]
    pool.release(FIRST)
    assert acquire_all(pool) == ["d"]


def test_a_released_slot_is_free_and_no_waiter_is_served_twice():
    pool = with_waiters(SlotPool(1, (1, 1)), FIRST, "a")
    assert pool.acquire() == ("a", FIRST)
    assert pool.acquire() is None
    pool.release(FIRST)
    assert pool.acquire() is None


def test_the_lowest_rank_goes_first_among_those_that_wait():
    pool = SlotPool[str](3, (3, 3))
    for name, rank in {"late": 2.0, "first": -7.0, "later": 2.0, "second": 0.0}.items():
        pool.enqueue(name, OTHERS, (rank,))
    assert acquire_all(pool) == ["first", "second", "late"]
    pool.release(OTHERS)
    assert acquire_all(pool) == ["later"]


def test_a_group_leaves_slots_to_the_other_however_many_wait():
    pool = with_waiters(SlotPool(5, (4, 3)), OTHERS, *"abcdefgh")
    assert acquire_all(pool) == ["a", "b", "c"]
    assert acquire_all(with_waiters(pool, FIRST, *"xyz")) == ["x", "y"]


def test_groups_take_turns_and_none_ever_has_all_slots():
    pool = with_waiters(with_waiters(SlotPool(5, (4, 3)), OTHERS, *"abcdef"), FIRST, *"uvwxyz")
    assert acquire_all(pool) == ["u", "a", "v", "b", "w"]
    pool.release(FIRST)
    assert acquire_all(pool) == ["c"]
    pool.release(OTHERS)
    pool.release(FIRST)
    assert acquire_all(pool) == ["x", "d"]


def test_a_group_that_waits_alone_gets_all_of_its_slots():
    pool = with_waiters(SlotPool(5, (4, 3)), FIRST, *"abcdef")
    assert acquire_all(pool) == ["a", "b", "c", "d"]
