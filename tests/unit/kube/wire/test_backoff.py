from datetime import timedelta

from reporter.kube.wire.backoff import Backoff, pause_after
from reporter.kube.wire.errors import Refused, Throttled, Unreachable


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


def test_two_quiet_minutes_start_over():
    tired = Backoff().with_failure(now=0).with_failure(now=1).with_failure(now=2)
    assert tired.with_failure(now=121).failures == 4
    assert tired.with_failure(now=122).failures == 1


def test_the_server_may_ask_for_more_patience_within_reason():
    err = Throttled("list pods", status=429, retry_after=timedelta(seconds=10))
    forever = Throttled("list pods", status=429, retry_after=timedelta(days=1))
    backoff = Backoff().with_failure(now=0)
    assert pause_after(backoff, err, 0) == timedelta(seconds=10)
    assert pause_after(backoff, forever, 0) == backoff.parameters.max_retry_after


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
