from datetime import UTC, datetime, timedelta

from reporter.process.server_time import MAX_AGE, MAX_ROUND_TRIP, ServerTime


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
OFFSET = NOON.timestamp()
"""The offset of a local clock whose zero is at noon."""

HOUR = 3600


def answer(time, at, *, wrong_by=0, connection="", took=0.0):
    """Record an answer of a server whose clock is *wrong_by* seconds ahead, in whole seconds."""
    date = (NOON + timedelta(seconds=at + wrong_by)).replace(microsecond=0)
    time.record(date, sent=at, received=at + took, connection=connection)


def is_right(time):
    bounds = time.bounds()
    return bounds.earliest <= OFFSET <= bounds.latest and bounds.latest - bounds.earliest < 2.5


def test_nothing_is_known_before_the_first_answer():
    assert ServerTime().bounds() is None
    assert ServerTime().at(5) is None


def test_before_the_first_answer_the_local_clock_counts():
    time = ServerTime(local_offset=OFFSET)
    assert time.at(5) == NOON + timedelta(seconds=5)
    assert time.bounds().spread == 0


def test_one_answer_gives_the_time_within_a_second_and_its_round_trip():
    time = ServerTime()
    answer(time, 10.4, took=0.2)
    assert is_right(time)
    assert time.at(70.6) == NOON + timedelta(seconds=70)


def test_an_answer_that_took_long_does_not_count():
    time = ServerTime()
    answer(time, 0, took=MAX_ROUND_TRIP + 1)
    assert time.bounds() is None


def test_one_wrong_answer_of_five_changes_nothing_whatever_its_place():
    for wrong in range(5):
        for wrong_by in (20, HOUR, -HOUR):
            time = ServerTime()
            for n in range(25):
                answer(time, n, wrong_by=wrong_by if n % 5 == wrong else 0, connection=n % 7)
            assert is_right(time)
            assert abs(time.bounds().spread - abs(wrong_by)) <= 2


def test_a_connection_that_is_used_most_does_not_outvote_the_others():
    time = ServerTime()
    for n in range(12):
        answer(time, 0, connection=n, wrong_by=HOUR if n < 3 else 0)
    for second in range(600):
        answer(time, second, connection="lease", wrong_by=HOUR)
    assert is_right(time)


def test_the_first_answer_does_not_decide_alone_against_the_local_clock():
    time = ServerTime(local_offset=OFFSET)
    answer(time, 1, wrong_by=HOUR, connection=1)
    assert time.bounds().nearest(OFFSET) == OFFSET
    answer(time, 2, connection=2)
    assert is_right(time)


def test_two_answers_decide_against_a_local_clock_that_is_wrong():
    time = ServerTime(local_offset=OFFSET + HOUR)
    answer(time, 1, connection=1)
    answer(time, 2, connection=1)
    assert is_right(time)
    assert time.bounds().spread == 0, "no API server has that clock"


def test_an_answer_without_a_connection_is_one_of_a_server():
    time = ServerTime(local_offset=OFFSET)
    for second in range(9):
        answer(time, second, connection=None if second == 8 else 1, wrong_by=HOUR * (second == 8))
    assert is_right(time)
    assert time.bounds().spread > HOUR - 2


def test_old_answers_no_longer_count():
    time = ServerTime()
    for n in range(20):
        answer(time, 0, connection=n)
    answer(time, MAX_AGE + 1, wrong_by=HOUR)
    assert time.at(0) == NOON + timedelta(hours=1)


def test_a_thousand_connections_keep_few_answers():
    time = ServerTime()
    for n in range(1000):
        answer(time, n / 100, connection=n)
    assert len(list(time._counted())) == 64
    assert is_right(time)
