"""Only a change of the time of evaluation shows that a source lives."""

from reporter.hub.cluster_reports import SourceId, SourceReport
from reporter.hub.source_state import EARLIER_TIMES, SourceStates, update
from reporter.model.states import State
from tests.support.fleet.series import NOON


SOURCE = SourceId("pod=a", "uid-1")
STALE = 300.0


def seen(*times: float, state: State = State.CURRENT):
    """Return the source after answers with these times of evaluation, one every 30 seconds."""
    found: SourceStates = {}
    for number, time in enumerate(times):
        report = SourceReport("uid-1", NOON + time, state)
        found = update(found, {SOURCE: report}, now=30.0 * number, stale=STALE)
    return found[SOURCE]


def test_the_first_sight_proves_nothing():
    assert seen(0).changed is None


def test_a_change_shows_that_it_lives():
    assert seen(0, 30, 60).changed == 60.0


def test_a_clock_that_is_set_back_is_a_change():
    assert seen(3600, 30).changed == 30.0


def test_a_time_that_was_seen_before_is_none():
    found = seen(0, 30, 0, 30, 0)
    assert found.changed == 30.0
    assert found.report.evaluated == NOON + 30
    assert found.seen == 120.0


def test_as_many_copies_of_an_engine_as_are_remembered_may_answer_in_turn():
    copies = [float(each) for each in range(EARLIER_TIMES + 1)]
    assert seen(*copies, *copies, *copies).changed == 30.0 * EARLIER_TIMES


def test_a_time_that_an_engine_rounds_is_the_same():
    assert seen(0, 0.0004, 0.0008).changed is None
    assert seen(0, 0.0004, 0.0008, 0.0012).changed == 90.0, "many small steps are a change"


def test_a_source_that_is_absent_for_long_is_new_again():
    found = update({}, {SOURCE: SourceReport("uid-1", NOON)}, now=0.0, stale=STALE)
    found = update(found, {}, now=301.0, stale=STALE)
    assert found == {}
