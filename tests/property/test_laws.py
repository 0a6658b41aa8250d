"""
The laws of announcing under random trouble, Unknown verdicts, pauses, restarts and lost answers.
"""

import itertools
from collections import defaultdict

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.eligibility import announceable_keys
from reporter.announcing.grouping import group_key
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.holds import CRASH_SETTLE
from reporter.model.enums import Emission, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.property.checked_replay import (
    CATALOGUE,
    GROUP,
    GROUPED,
    KEYS,
    SETS,
    CheckedReplay,
)
from tests.support.builders import MINUTE, a_trouble, an_active_verdict
from tests.support.reason_states import reason_states


PAUSES = (0.001, 1, 9, 14, 15, 16, 29, 30, 31, 45, 60, 61, 100, 299, 400, 630)

TROUBLES = st.builds(
    a_trouble,
    st.sampled_from(["one", "two"]),
    st.sampled_from(list(TroubleKind)),
    code=st.sampled_from(["Crash", "Image"]),
    is_out=st.booleans(),
    is_crash=st.sampled_from([False, False, True]),
)


class ReplayStateMachine(RuleBasedStateMachine):
    replay: CheckedReplay

    @initialize(emission=st.sampled_from(list(Emission)))
    def start(self, emission):
        self.replay = CheckedReplay(
            CATALOGUE,
            EvaluationSettings(emission=emission),
            subjects=frozenset({CLUSTER_SUBJECT, *SETS}),
        )

    # ------------------------------------------------------------ what may happen

    @rule(key=st.sampled_from(KEYS), troubles=st.lists(TROUBLES, min_size=1, max_size=2))
    def trouble(self, key, troubles):
        by_object = {t.cause.object: t for t in troubles}
        self.replay.set_verdicts(
            an_active_verdict(key, *(by_object[ref] for ref in sorted(by_object)))
        )

    @rule(number=st.integers(8, 12), trouble=TROUBLES)
    def trouble_with_many(self, number, trouble):
        self.replay.set_verdicts(*(an_active_verdict(key, trouble) for key in GROUPED[:number]))

    @rule(number=st.integers(0, 12))
    def all_but_some_recover(self, number):
        self.replay.set_clear(*GROUPED[number:])

    @rule(key=st.sampled_from(KEYS))
    def recovers(self, key):
        self.replay.set_clear(key)

    @rule(key=st.sampled_from(KEYS))
    def becomes_unknown(self, key):
        self.replay.set_unknown(key)

    @rule()
    def all_recover(self):
        self.replay.set_clear(*KEYS, *GROUPED)

    @rule(pause=st.sampled_from(PAUSES))
    def time_passes(self, pause):
        before = self.replay.evaluation
        self.replay.advance(pause)
        after = self.replay.evaluation
        for key, state in before.tracked.finding_states.items():
            if (
                state.why_unknown
                or key in before.suppressions.suppressed_by
                or key in after.suppressions.suppressed_by
            ):
                continue
            if not state.announceable:
                continue
            still_active = {
                clock.trouble.cause.object
                for clock in after.tracked.finding_states[key].announceable
            }
            assert {clock.trouble.cause.object for clock in state.announceable} <= still_active

    @rule(subject=st.sampled_from(SETS[:2]))
    def is_deleted(self, subject):
        self.replay.subjects -= {subject}
        self.replay.verdicts = {
            k: v for k, v in self.replay.verdicts.items() if k.subject != subject
        }
        self.replay.clear_since.pop(subject, None)
        self.replay.clear_since_write.add(GROUP)
        self.replay.run_pass()
        assert subject not in self.replay.announcement_state.ready_owed
        assert not any(key.subject == subject for key in self.replay.announcement_state.episodes)

    @rule(subject=st.sampled_from(SETS[:2]))
    def is_created(self, subject):
        self.replay.subjects |= {subject}
        self.replay.run_pass()

    @rule(pause=st.sampled_from([0.0, 5.0, 40.0, 400.0, 4000.0]))
    def the_process_restarts(self, pause):
        self.replay.active_since.clear()
        self.replay.clear_since.clear()
        before, written = self.replay.announcement_state.episodes, len(self.replay.writes)
        self.replay.restart(back_after=pause)
        for record in self.replay.writes[written:]:
            old = before.get(record.key)
            heartbeat_due = (
                old is not None and self.replay.now - old.event.last_timestamp > 4 * MINUTE
            )
            same = (
                old is not None
                and old.event.content_digest == record.content_digest
                and not old.uncertain
            )
            assert heartbeat_due or not same, "written for the restart itself"

    @rule(key=st.sampled_from(KEYS), trouble=TROUBLES)
    def an_answer_is_lost(self, key, trouble):
        self.replay.write_outcome = WriteOutcome.UNCERTAIN
        self.replay.set_verdicts(an_active_verdict(key, trouble))
        self.replay.write_outcome = WriteOutcome.WRITTEN

    @rule()
    def the_same_again(self):
        self.replay.run_pass()
        before = len(self.replay.writes)
        self.replay.run_pass()
        assert len(self.replay.writes) == before, "the same input twice announced twice"

    # ------------------------------------------------------------ what always holds

    @invariant()
    def nothing_real_is_hidden(self):
        states = reason_states(self.replay.evaluation)
        for key, verdict in self.replay.verdicts.items():
            if key.subject in self.replay.subjects:
                assert key in states
                assert (states[key] == "unknown") == isinstance(verdict, str)

    @invariant()
    def every_announced_finding_has_an_event(self):
        for key, state in reason_states(self.replay.evaluation).items():
            announced = state == "announced" or (
                state == "outranked" and self.replay.settings.emission is Emission.ALL
            )
            if announced:
                episodes = self.replay.announcement_state.episodes
                assert key in episodes or group_key(key) in episodes

    @invariant()
    def lasting_trouble_is_past_its_hold_in_time(self):
        settle = self.replay.settings.delays.settle
        for key, (since, kinds) in self.replay.active_since.items():
            entry = CATALOGUE[key.reason]
            grace = self.replay.settings.delays.grace
            state = self.replay.evaluation.tracked.finding_states[key]
            clocks = {clock.object: clock for clock in state.clocks}
            for ref, kind in kinds.items():
                hold = max(entry.holds.for_kind(kind, grace=grace), settle)
                if self.replay.now - since >= hold:
                    assert clocks[ref].past_hold

    @invariant()
    def one_reason_is_announced_per_subject(self):
        if self.replay.settings.emission is Emission.PRIMARY:
            announced = defaultdict(set)
            for key in announceable_keys(
                self.replay.announcement_state, self.replay.evaluation, self.replay.settings
            ):
                if not CATALOGUE[key.reason].orthogonal:
                    announced[key.subject].add(key.reason)
            assert all(len(reasons) == 1 for reasons in announced.values())

    @invariant()
    def counts_go_up_by_one(self):
        counts = defaultdict(list)
        for record in self.replay.writes:
            counts[record.key, record.episode_start].append(record.count)
        for each in counts.values():
            assert each[0] == 1
            assert all(b - a in {0, 1} for a, b in itertools.pairwise(each))

    @invariant()
    def a_subject_that_is_clear_for_long_owes_no_ready(self):
        for subject, since in self.replay.clear_since.items():
            if self.replay.now - since > CRASH_SETTLE + MINUTE:
                assert subject not in self.replay.announcement_state.ready_owed

    @invariant()
    def a_message_fits(self):
        assert all(len(r.message.encode()) <= 1024 for r in self.replay.writes[-3:])


TestReplayStateMachine = ReplayStateMachine.TestCase
