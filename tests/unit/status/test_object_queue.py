"""Order of the writes of statuses, their number at once, and the retries of failed ones."""

from datetime import timedelta

from reporter.status.object_publisher import (
    DEFAULT_RATE,
    MAX_CONCURRENT_WRITES,
    ObjectQueue,
    PendingObject,
)
from tests.support.builders import NOON


SECOND = timedelta(seconds=1)


def a_queue() -> ObjectQueue:
    return ObjectQueue(now=NOON, jitter=lambda: 0.0)


def changes(*names: str, due_at=NOON) -> list[PendingObject]:
    return [PendingObject(False, due_at, ("team", name)) for name in names]


def renewals(*names: str, due_at=NOON) -> list[PendingObject]:
    return [PendingObject(True, due_at, ("team", name)) for name in names]


def names(due) -> list[str]:
    return [name for _, name in due]


def test_changes_go_before_renewals_and_the_oldest_of_these_first():
    pending = [
        *renewals("young", due_at=NOON - SECOND),
        *renewals("old", due_at=NOON - 9 * SECOND),
        *changes("changed"),
    ]
    due, _ = a_queue().take_due(pending, now=NOON)
    assert names(due) == ["changed", "old", "young"]


def test_what_is_due_later_is_looked_at_then():
    later = NOON + 70 * SECOND
    assert a_queue().take_due(renewals("later", due_at=later), now=NOON) == ([], later)


def test_few_are_in_flight_and_none_twice():
    queue, pending = a_queue(), changes(*(f"{number:02}" for number in range(9)))
    due, _ = queue.take_due(pending, now=NOON)
    assert len(due) == MAX_CONCURRENT_WRITES
    assert queue.take_due(pending, now=NOON)[0] == []
    queue.finished(due[0])
    assert queue.take_due(pending[1:], now=NOON)[0] == [("team", "04")]


def test_twenty_at_once_and_two_a_second():
    queue, written, now = a_queue(), 0, NOON
    for second in range(11):
        now = NOON + second * SECOND
        left = changes(*(f"{number:03}" for number in range(written, 100)))
        while due := queue.take_due(left, now=now)[0]:
            for each in due:
                queue.finished(each)
            written += len(due)
            left = left[len(due) :]
        assert written == DEFAULT_RATE.burst + 2 * second
    _, wake_at = queue.take_due(left, now=now)
    assert wake_at == now + SECOND / 2


def test_a_failed_write_waits_alone_and_longer_each_time():
    queue, (bad, good) = a_queue(), (("team", "bad"), ("team", "good"))
    queue.take_due(changes("bad"), now=NOON)
    queue.finished(bad)
    assert queue.failed(bad, now=NOON).retry_at == NOON + SECOND
    assert queue.take_due(changes("bad", "good"), now=NOON) == ([good], NOON + SECOND)
    assert queue.failing == 1
    assert queue.failed(bad, now=NOON).retry_at == NOON + 2 * SECOND
    wait = queue.failed(bad, now=NOON, retry_after=timedelta(seconds=30)).retry_at
    assert wait == NOON + 30 * SECOND
    queue.succeeded(bad)
    assert queue.failing == 0


def test_an_object_that_went_is_forgotten():
    queue = a_queue()
    queue.failed(("team", "bad"), now=NOON)
    queue.keep_only({("team", "good"): None})
    assert queue.failing == 0


def test_a_clock_that_is_set_back_stops_no_writes():
    queue = a_queue()
    for _ in range(10):
        for each in queue.take_due(changes("one", "two"), now=NOON)[0]:
            queue.finished(each)
    assert queue.take_due(changes("one"), now=NOON)[0] == []
    back = NOON - timedelta(hours=1)
    assert queue.take_due(changes("one", due_at=back), now=back)[0] == []
    due, _ = queue.take_due(changes("one", due_at=back), now=back + SECOND)
    assert due == [("team", "one")]
