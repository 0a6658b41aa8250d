"""The bounds of the number of restarts in a window."""

import pytest

from reporter.resources.restarts import RestartCount, count_restarts
from reporter.snapshot.pod_runs import ContainerRestarts
from tests.support.builders import LONG_AGO, MINUTE, NOON, SECOND


SINCE = NOON - 15 * MINUTE


def ago(*minutes: int) -> tuple:
    return tuple(NOON - each * MINUTE for each in minutes)


BOUNDS = {
    "none": ((), 0, RestartCount(0, 0)),
    "all inside": (ago(9, 5, 1), 0, RestartCount(3, 3, 8 * MINUTE)),
    "at the very begin of the window is outside": (ago(15, 1), 0, RestartCount(1, 1)),
    "what nobody saw is older than what is outside": (ago(20, 1), 5, RestartCount(1, 1)),
    "what nobody saw may be inside": (ago(5, 1), 5, RestartCount(2, 7, 4 * MINUTE)),
    "of none is anything known": ((), 5, RestartCount(0, 5)),
    "a time ahead of the clock is not known": (ago(1, -30), 0, RestartCount(1, 2)),
    "a little ahead is known": ((NOON + 30 * SECOND,), 0, RestartCount(1, 1)),
}


@pytest.mark.parametrize(("times", "unseen", "count"), BOUNDS.values(), ids=BOUNDS)
def test_no_fewer_than_are_proved_and_no_more_than_are_possible(times, unseen, count):
    restarts = ContainerRestarts(len(times) + unseen, served=True, times=times, unseen=unseen)
    for started in (LONG_AGO, None):
        assert count_restarts(restarts, since=SINCE, now=NOON, pod_started_at=started) == count, (
            started
        )


def test_all_restarts_of_a_young_pod_are_young():
    restarts = ContainerRestarts(6, served=True, times=ago(2, 1), unseen=4)
    started = NOON - 10 * MINUTE
    assert count_restarts(restarts, since=SINCE, now=NOON, pod_started_at=started) == RestartCount(
        6, 6, 9 * MINUTE
    )
