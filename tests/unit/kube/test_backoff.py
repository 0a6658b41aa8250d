from datetime import timedelta

import pytest

from reporter.kube.backoff import Backoff, pause_after
from reporter.kube.errors import Refused, Throttled, Unreachable


def seconds(*numbers):
    return [timedelta(seconds=n) for n in numbers]


def test_retry_after_decides_the_pause_until_many_failures_in_a_row():
    err = Throttled("list pods", status=429, retry_after=timedelta(seconds=1))
    backoff, pauses = Backoff(), []
    for now in range(14):
        backoff = backoff.with_failure(now=now)
        pauses.append(pause_after(backoff, err, 0))
    assert pauses == seconds(*[1] * 11, 1.6, 3.2, 6.4)


def test_pauses_double_up_to_the_longest():
    backoff, pauses = Backoff(), []
    for _ in range(8):
        backoff = backoff.with_failure(now=0)
        pauses.append(backoff.pause(0))
    assert pauses == seconds(0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30)


def test_chance_lengthens_a_pause_up_to_double():
    backoff = Backoff().with_failure(now=0)
    assert backoff.pause(0.5) == timedelta(seconds=1.2)
    assert backoff.pause(0.999) < timedelta(seconds=1.6)


def test_the_longest_pause_is_hardly_lengthened():
    tired = Backoff(failures=20)
    assert timedelta(seconds=32) < tired.pause(0.99) < timedelta(seconds=33.1)


def test_two_minutes_without_failure_start_over():
    tired = Backoff().with_failure(now=0).with_failure(now=1).with_failure(now=2)
    assert tired.with_failure(now=121).failures == 4
    assert tired.with_failure(now=122).failures == 1


@pytest.mark.parametrize("random", [0, 0.5, 0.999])
@pytest.mark.parametrize("failures", [1, 10, 11, 100])
@pytest.mark.parametrize("asked", [timedelta(hours=1), timedelta(days=10_000)])
def test_the_server_may_ask_for_a_minute_and_with_a_429_for_five(random, failures, asked):
    backoff = Backoff(failures=failures)
    busy = Throttled("list pods", status=429, retry_after=asked)
    unable = Unreachable("list pods", status=503, retry_after=asked)
    assert pause_after(backoff, busy, random) == timedelta(minutes=5)
    assert pause_after(backoff, unable, random) == timedelta(minutes=1)


def test_a_pause_within_the_bounds_is_kept():
    busy = Throttled("list pods", status=429, retry_after=timedelta(seconds=90))
    unable = Unreachable("list pods", status=503, retry_after=timedelta(seconds=40))
    assert pause_after(Backoff(failures=1), busy, 0) == timedelta(seconds=90)
    assert pause_after(Backoff(failures=1), unable, 0) == timedelta(seconds=40)


def test_chance_doubles_the_retry_after_of_the_first_429s_and_hardly_lengthens_others():
    asked = timedelta(seconds=40)
    busy = Throttled("list pods", status=429, retry_after=asked)
    unable = Unreachable("list pods", status=503, retry_after=asked)
    assert pause_after(Backoff(failures=10), busy, 0.5) == timedelta(seconds=60)
    assert pause_after(Backoff(failures=11), busy, 0.5) == timedelta(seconds=42)
    assert pause_after(Backoff(failures=1), unable, 0.5) == timedelta(seconds=42)


def test_without_any_response_pauses_stay_short():
    backoff = Backoff()
    for _ in range(20):
        backoff = backoff.with_failure(now=0)
    assert pause_after(backoff, Unreachable("list pods"), 0) == backoff.parameters.no_response_cap
    assert pause_after(backoff, Unreachable("list pods", status=500), 0) == backoff.parameters.cap
    assert pause_after(backoff, Refused("list pods", status=403), 0) == backoff.parameters.cap


def test_the_first_response_after_none_restarts_the_backoff():
    deaf = Backoff()
    for _ in range(20):
        deaf = deaf.with_failure(now=0, no_response=True)
    assert deaf.failures == 20
    back = deaf.with_failure(now=1)
    assert back.pause(0) == timedelta(seconds=0.8)
    assert back.with_failure(now=2).pause(0) == timedelta(seconds=1.6)


def test_a_thousand_failures_do_not_overflow():
    assert Backoff(failures=100_000).pause(0) == timedelta(seconds=30)
