"""The queue of pending writes: which start, which wait, and for how long."""

from datetime import timedelta

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.write_queue import MAX_CONCURRENT_WRITES, WriteQueue
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Emission
from tests.support.builders import NOON, SECOND, a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay


KEYS = [a_key(f"cluster{number:02}") for number in range(12)]
CATALOGUE = a_catalogue(*(an_entry(key.reason, rank) for rank, key in enumerate(KEYS, start=1)))


class UnwrittenReplay(Replay):
    def write_pending(self, outcome=None):
        return


def a_replay() -> Replay:
    """Twelve findings that are due and not written yet."""
    replay = UnwrittenReplay(CATALOGUE, EvaluationSettings(emission=Emission.ALL))
    return replay.set_verdicts(*map(an_active_verdict, KEYS))


def a_queue(replay: Replay) -> WriteQueue:
    queue = WriteQueue(now=NOON, jitter=lambda: 0.0)
    queue.update(replay.context, now=NOON)
    return queue


def test_the_highest_ranks_start_first_up_to_the_limit_in_flight():
    queue = a_queue(a_replay())
    assert queue.take_due(now=NOON)[0] == KEYS[:MAX_CONCURRENT_WRITES]
    assert queue.take_due(now=NOON)[0] == []


def test_a_failed_write_waits_for_its_backoff_and_delays_no_other():
    replay = a_replay()
    queue = a_queue(replay)
    queue.take_due(now=NOON)
    for key in KEYS[:MAX_CONCURRENT_WRITES]:
        queue.failed(key, now=NOON)
        queue.finished(key)
    queue.update(replay.context, now=NOON)
    assert queue.take_due(now=NOON) == (KEYS[MAX_CONCURRENT_WRITES:], NOON + SECOND)
    assert queue.take_due(now=NOON + SECOND)[0] == KEYS[:4]


def test_retry_after_is_honoured():
    queue = a_queue(a_replay())
    backoff = queue.failed(KEYS[0], now=NOON, retry_after=timedelta(seconds=7))
    assert backoff.retry_at == NOON + timedelta(seconds=7)
    assert KEYS[0] not in queue.take_due(now=NOON + 6 * SECOND)[0]


def test_a_success_ends_the_backoff_and_returns_the_number_of_failures():
    queue = a_queue(a_replay())
    queue.failed(KEYS[0], now=NOON)
    queue.failed(KEYS[0], now=NOON)
    assert [queue.succeeded(KEYS[0]), queue.succeeded(KEYS[0])] == [2, 0]


def test_a_key_that_was_written_is_scheduled_for_its_heartbeat():
    replay = a_replay()
    queue = a_queue(replay)
    queue.take_due(now=NOON)
    Replay.write_pending(replay, WriteOutcome.WRITTEN)
    for key in KEYS[:MAX_CONCURRENT_WRITES]:
        queue.finished(key)
    queue.update(replay.context, now=NOON)
    due, wake_at = queue.take_due(now=NOON)
    assert due == KEYS[MAX_CONCURRENT_WRITES:]
    assert wake_at is not None
    assert wake_at >= NOON + timedelta(seconds=270)
