"""
Since when trouble has existed: the writer's time if it is sane, else what an Event or the process saw.
"""

from datetime import UTC, datetime

import pytest

from reporter.evaluation.clocks import CauseClock, FindingState
from reporter.model.enums import TroubleKind
from reporter.model.states import Actionability, Pattern, SinceFrom, State
from reporter.model.states import Actionability as Acts
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.since import since_of
from tests.support.builders import HOUR, INVOLVED, LONG_AGO, MINUTE, NOON, SECOND, a_trouble
from tests.support.replay_builders import KAITO, out, stack_replay


SEEN = NOON - MINUTE
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def since(written, episode=None, *, seen=SEEN, cause_since=None, announced_at=None):
    trouble = a_trouble(since=written)
    clock = CauseClock(trouble, past_hold=True, seen_at=seen, cause_since=cause_since)
    state = FindingState((clock,), INVOLVED, NOON, announced_at=announced_at)
    episodes = {KAITO: episode} if episode else {}
    return since_of(KAITO, state, clock, episodes, now=NOON)


def test_a_sane_time_of_the_writer_counts():
    assert since(NOON - HOUR) == (NOON - HOUR, SinceFrom.WRITER)


@pytest.mark.parametrize("written", [None, EPOCH, NOON + SECOND, LONG_AGO])
def test_no_time_1970_the_future_and_the_age_of_the_object_do_not_count(written):
    assert since(written) == (SEEN, SinceFrom.PROCESS)


def test_trouble_that_is_written_anew_by_one_object_after_the_other_is_older():
    hour_ago, earlier = NOON - HOUR, NOON - 2 * HOUR
    assert since(NOON - MINUTE, seen=hour_ago) == (hour_ago, SinceFrom.PROCESS)
    assert since(NOON - MINUTE, earlier, seen=hour_ago) == (earlier, SinceFrom.EPISODE)
    assert since(hour_ago + 30 * SECOND, seen=hour_ago)[1] is SinceFrom.WRITER


def test_another_code_of_the_same_object_is_younger():
    code = {"seen": NOON - HOUR, "cause_since": SEEN}
    assert since(SEEN, **code)[1] is SinceFrom.WRITER
    assert since(None, **code) == (SEEN, SinceFrom.PROCESS)


def test_an_episode_from_before_this_process_counts():
    assert since(None, NOON - HOUR) == (NOON - HOUR, SinceFrom.EPISODE)
    assert since(None, announced_at=NOON - HOUR) == (NOON - HOUR, SinceFrom.EPISODE)


def test_an_episode_that_was_announced_after_its_hold_does_not_shorten_the_time():
    assert since(None, NOON - SECOND) == (SEEN, SinceFrom.PROCESS)


def test_a_clock_that_was_set_back_makes_nothing_begin_in_the_future():
    assert since(None, seen=NOON + HOUR) == (NOON, SinceFrom.PROCESS)


# ---------------------------------------------------------------- windows


class Watched:
    """The cluster of a small catalogue, rolled up after each pass."""

    def __init__(self, **verdicts):
        self.replay = stack_replay(**verdicts)
        self.rules = RollUpRules(self.replay.catalogue, {})
        self.rollup = RollUp()
        self.blocker()

    def blocker(self):
        replay = self.replay
        given = RollUpInput(
            evaluation=replay.evaluation,
            snapshot=replay.store.snapshot(),
            changed=replay.evaluation.changed_since(self.rollup.evaluation),
            evaluated=replay.evaluation.subjects,
            dirty=frozenset(),
            now=replay.now,
            episodes={},
        )
        self.rollup = fold(self.rollup, given, self.rules)
        return self.rollup.cluster.subject_state.blocker


def test_trouble_is_transient_while_held_and_stalled_beyond_its_window():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO, kind=TroubleKind.LOST))
    held = watched.blocker()
    assert (held.held, held.stalled, held.actionability) == (True, False, Acts.TRANSIENT)
    watched.replay.advance(31)
    found = watched.blocker()
    assert (found.held, found.stalled, found.actionability) == (False, False, Acts.PLATFORM)
    watched.replay.advance(30)
    late = watched.blocker()
    assert (late.stalled, late.pattern) == (True, None)


def test_what_starts_without_end_names_no_culprit():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO, kind=TroubleKind.STARTING))
    watched.replay.advance(59)
    assert watched.blocker().actionability is Actionability.TRANSIENT
    watched.replay.advance(2)
    found = watched.blocker()
    assert (found.stalled, found.pattern) == (True, Pattern.NO_TERMINAL_STATE_REPORTED)


def test_unknown_is_transient_for_the_window_of_its_layer():
    watched = Watched()
    watched.replay.set_unknown(KAITO)
    first = watched.blocker()
    assert watched.rollup.cluster.subject_state.state is State.UNKNOWN
    assert (first.stalled, first.actionability) == (False, Acts.TRANSIENT)
    watched.replay.advance(5 * 60)
    late = watched.blocker()
    assert (late.stalled, late.actionability) == (True, Acts.PLATFORM)
    assert late.pattern is Pattern.NO_TERMINAL_STATE_REPORTED


@pytest.mark.parametrize("written", [EPOCH, NOON + HOUR, LONG_AGO])
def test_a_time_that_is_not_sane_never_escalates(written):
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO, kind=TroubleKind.DECLARED, since=written))
    found = watched.blocker()
    assert (found.stalled, found.since) == (False, NOON)


@pytest.mark.parametrize("kind", [TroubleKind.DECLARED, TroubleKind.STARTING])
def test_the_age_of_an_object_never_escalates_in_the_first_pass_of_a_process(kind):
    first = out(KAITO, kind=kind, since=LONG_AGO)
    found = Watched(verdicts={KAITO: first}).blocker()
    assert (found.stalled, found.since, found.since_from) == (False, NOON, SinceFrom.PROCESS)


def test_time_alone_is_enough_to_escalate():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO, kind=TroubleKind.DECLARED))
    assert not watched.blocker().stalled
    due = watched.rollup.cluster.subject_state.blocker.deadline
    given = RollUpInput(
        evaluation=watched.replay.evaluation,
        snapshot=watched.replay.store.snapshot(),
        changed=frozenset(),
        evaluated=frozenset(),
        dirty=frozenset(),
        now=due,
        episodes={},
    )
    after = fold(watched.rollup, given, watched.rules)
    assert after.cluster.subject_state.blocker.stalled
    assert after.cluster.subject_state.blocker.deadline is None
    assert after.revision == watched.rollup.revision + 1
