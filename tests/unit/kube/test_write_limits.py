"""The rate of writes, their number at once, and the pauses after failed ones."""

from datetime import timedelta

import pytest

from reporter.kube.write_limits import (
    TokenBucket,
    WriteBackoff,
    WriteLimits,
    WriteRate,
)
from tests.support.builders import NOON, SECOND


def spent(bucket, number):
    for _ in range(number):
        bucket = bucket.with_token_taken()
    return bucket


def test_a_burst_is_allowed_and_then_ten_a_second():
    bucket = spent(TokenBucket(NOON, 10.0, 50.0, 50.0), 50)
    assert not bucket.has_token
    assert bucket.next_token_at == NOON + SECOND / 10
    assert bucket.refilled(now=bucket.next_token_at).has_token
    assert bucket.refilled(now=NOON + SECOND).tokens == pytest.approx(10)


def test_a_token_bucket_never_holds_more_than_a_burst():
    assert (
        spent(TokenBucket(NOON, 10.0, 50.0, 50.0), 3)
        .refilled(now=NOON + timedelta(hours=1))
        .tokens
        == 50
    )


def test_a_clock_that_goes_back_gives_and_takes_nothing():
    bucket = spent(TokenBucket(NOON, 10.0, 50.0, 50.0), 20).refilled(now=NOON - timedelta(hours=1))
    assert (bucket.tokens, bucket.updated_at) == (30, NOON)


def test_pauses_double_up_to_a_minute():
    retry, pauses = WriteBackoff(), []
    for _ in range(8):
        retry = retry.with_failure(now=NOON)
        pauses.append((retry.retry_at - NOON).total_seconds())
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_server_may_ask_for_a_longer_pause_and_chance_for_a_shorter():
    assert (
        WriteBackoff().with_failure(now=NOON, retry_after=30 * SECOND).retry_at
        == NOON + 30 * SECOND
    )
    assert (
        WriteBackoff(6).with_failure(now=NOON, retry_after=SECOND).retry_at == NOON + 60 * SECOND
    )
    assert WriteBackoff(6).with_failure(now=NOON, jitter=0.999).retry_at >= NOON + 45 * SECOND


@pytest.mark.parametrize("failures", [0, 3, 100])
def test_no_server_can_put_a_write_off_for_more_than_a_minute(failures):
    asked = timedelta(hours=1)
    after = WriteBackoff(failures).with_failure(now=NOON, retry_after=asked)
    assert after.retry_at == NOON + 60 * SECOND


def test_thousands_of_failures_are_no_overflow():
    assert WriteBackoff(5000).with_failure(now=NOON).retry_at == NOON + 60 * SECOND


# ------------------------------------------------------------ many keys


def some_limits() -> WriteLimits[str]:
    return WriteLimits(WriteRate(5.0, 20.0, in_flight=4), now=NOON, jitter=lambda: 0.0)


def start(limits: WriteLimits[str], *keys: str, at=NOON) -> list[str]:
    return limits.start_due(dict.fromkeys(keys, NOON), now=at)[0]


def test_the_first_start_up_to_the_number_in_flight_and_none_twice():
    limits = some_limits()
    assert start(limits, *"abcdef") == ["a", "b", "c", "d"]
    assert start(limits, *"abcdef") == []
    limits.finished("b")
    assert start(limits, *"abcdef") == ["b"], "it is still due"


def test_what_is_due_later_is_looked_at_then():
    later = NOON + 70 * SECOND
    assert some_limits().start_due({"a": later}, now=NOON) == ([], later)


def test_a_burst_at_once_and_then_so_many_a_second():
    limits, names = some_limits(), [f"{number:02}" for number in range(40)]
    written: list[str] = []

    def write(at) -> None:
        while taken := start(limits, *(n for n in names if n not in written), at=at):
            written.extend(taken)
            for name in taken:
                limits.finished(name)

    write(NOON)
    assert written == names[:20]
    write(NOON + SECOND)
    assert written == names[:25]
    left = dict.fromkeys(names[25:], NOON)
    assert limits.start_due(left, now=NOON + SECOND)[1] == NOON + 1.2 * SECOND


def test_a_clock_that_is_set_back_stops_no_writes():
    limits = some_limits()
    for number in range(20):
        assert start(limits, str(number)) == [str(number)]
        limits.finished(str(number))
    assert start(limits, "a") == []
    back = NOON - timedelta(hours=1)
    assert limits.start_due({"a": back}, now=back)[0] == []
    assert limits.start_due({"a": back}, now=back + SECOND)[0] == ["a"]


def test_a_failed_write_waits_alone_and_longer_each_time():
    limits = some_limits()
    assert start(limits, "a", "b") == ["a", "b"]
    limits.failed("a", now=NOON)
    for key in "ab":
        limits.finished(key)
    assert limits.start_due({"a": NOON, "b": NOON}, now=NOON) == (["b"], NOON + SECOND)
    limits.failed("a", now=NOON)
    assert limits.start_due({"a": NOON}, now=NOON)[1] == NOON + 2 * SECOND
    limits.failed("a", now=NOON, retry_after=30 * SECOND)
    assert limits.start_due({"a": NOON}, now=NOON)[1] == NOON + 30 * SECOND
    assert limits.failures("a") == 3
    limits.succeeded("a")
    assert limits.failures("a") == 0


def test_a_back_off_outlives_its_key_until_it_is_over():
    limits = some_limits()
    start(limits, "a")
    limits.failed("a", now=NOON, retry_after=30 * SECOND)
    limits.finished("a")
    assert start(limits, "b") == ["b"]
    assert start(limits, "a", at=NOON + 29 * SECOND) == []
    assert start(limits, at=NOON + 30 * SECOND) == []
    assert limits.failures("a") == 0
