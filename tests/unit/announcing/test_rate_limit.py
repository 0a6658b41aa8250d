from datetime import timedelta

import pytest

from reporter.announcing.rate_limit import TokenBucket, WriteBackoff
from tests.support.builders import NOON, SECOND


def spent(bucket, number):
    for _ in range(number):
        bucket = bucket.with_token_taken()
    return bucket


def test_a_burst_is_allowed_and_then_ten_a_second():
    bucket = spent(TokenBucket(NOON), 50)
    assert not bucket.has_token
    assert bucket.next_token_at == NOON + SECOND / 10
    assert bucket.refilled(now=bucket.next_token_at).has_token
    assert bucket.refilled(now=NOON + SECOND).tokens == pytest.approx(10)


def test_a_token_bucket_never_holds_more_than_a_burst():
    assert spent(TokenBucket(NOON), 3).refilled(now=NOON + timedelta(hours=1)).tokens == 50


def test_a_clock_that_goes_back_gives_and_takes_nothing():
    bucket = spent(TokenBucket(NOON), 20).refilled(now=NOON - timedelta(hours=1))
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
