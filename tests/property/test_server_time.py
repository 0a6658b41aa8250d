"""
The API server's time, from random answers: right while most are, and steady while it is corrected.
"""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from reporter.process.clock import MAX_RATE, corrected_offset
from reporter.process.server_time import ServerTime


EPOCH = datetime(2026, 5, 1, tzinfo=UTC)
OFFSET = EPOCH.timestamp()
LONGEST_ANSWER = 1.3
"""Seconds that one answer leaves open: the second of its Date and its round trip."""


def answers(random, *, servers):
    """
    Yield answers of *servers*, each with its clock's error in seconds, over some ten connections.

    Each is (connection, Date, seconds when sent, seconds when received).
    """
    at, connections = 0.0, {n: random.choice(servers) for n in range(10)}
    for _ in range(600):
        at += random.expovariate(1.0)
        number = random.randrange(10)
        if random.random() < 0.05:
            connections[number] = random.choice(servers)
        took = random.uniform(0.0, 0.3)
        true = EPOCH + timedelta(seconds=at + random.uniform(0, took) + connections[number])
        yield number, true.replace(microsecond=0), at, at + took


@pytest.mark.parametrize("seed", range(40))
def test_bounds_include_the_truth_whenever_most_of_the_answers_that_count_are_right(seed):
    random = Random(seed)
    wrong_by = random.choice([20, -20, 3600, -3600])
    time = ServerTime()
    for connection, date, sent, received in answers(random, servers=[0, 0, 0, 0, wrong_by]):
        time.record(date, sent=sent, received=received, connection=connection)
        counted = list(time._counted())
        right = sum(each.earliest <= OFFSET <= each.latest for each in counted)
        bounds = time.bounds()
        assert bounds.earliest <= bounds.latest
        if right > len(counted) / 2:
            assert bounds.earliest <= OFFSET <= bounds.latest
            assert bounds.latest - bounds.earliest < 2 * LONGEST_ANSWER


@pytest.mark.parametrize("seed", range(40))
def test_after_the_start_time_passes_steadily_whatever_the_servers_send(seed):
    random = Random(seed)
    time, offset, before = ServerTime(), OFFSET, 0.0
    errors = [random.uniform(-4000, 4000) for _ in range(3)]
    for connection, date, sent, received in answers(random, servers=errors):
        time.record(date, sent=sent, received=received, connection=connection)
        now = max(received, before)
        after = corrected_offset(offset, time.bounds(), elapsed=now - before, may_jump=False)
        assert abs(after - offset) <= MAX_RATE * (now - before) + 1e-6
        offset, before = after, now
