from datetime import timedelta

import pytest

from reporter.stages.pacer import Bucket, Retry
from tests.builders import NOON, SECOND


def spent(bucket, number):
    for _ in range(number):
        bucket = bucket.taken()
    return bucket


def test_a_burst_is_allowed_and_then_ten_a_second():
    bucket = spent(Bucket(NOON), 50)
    assert not bucket.may
    assert bucket.next == NOON + SECOND / 10
    assert bucket.filled(now=bucket.next).may
    assert bucket.filled(now=NOON + SECOND).level == pytest.approx(10)


def test_it_never_holds_more_than_a_burst():
    assert spent(Bucket(NOON), 3).filled(now=NOON + timedelta(hours=1)).level == 50


def test_a_clock_that_goes_back_gives_and_takes_nothing():
    bucket = spent(Bucket(NOON), 20).filled(now=NOON - timedelta(hours=1))
    assert (bucket.level, bucket.at) == (30, NOON)


def test_pauses_double_up_to_a_minute():
    retry, pauses = Retry(), []
    for _ in range(8):
        retry = retry.failed(now=NOON)
        pauses.append((retry.until - NOON).total_seconds())
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_server_may_ask_for_a_longer_pause_and_chance_for_a_shorter():
    assert Retry().failed(now=NOON, asked=30 * SECOND).until == NOON + 30 * SECOND
    assert Retry(6).failed(now=NOON, asked=SECOND).until == NOON + 60 * SECOND
    assert Retry(6).failed(now=NOON, chance=0.999).until >= NOON + 45 * SECOND


def test_thousands_of_failures_are_no_overflow():
    assert Retry(5000).failed(now=NOON).until == NOON + 60 * SECOND
