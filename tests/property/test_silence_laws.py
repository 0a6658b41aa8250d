"""
The laws of silences, under random troubles and silences.

Nothing is announced while it is silenced; after the end it is if it still lasts; no silence hides another
finding, and no recovery waits. The same story without any silence shows when each recovery is due.
"""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reporter.announcing.grouping import group_key
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Emission, EventType, Layer, TroubleKind
from reporter.model.silences import SilenceText
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.property.checked_replay import CATALOGUE, GROUPED, KEYS, SETS
from tests.support.builders import a_trouble, an_active_verdict
from tests.support.reason_states import reason_states
from tests.support.replay import Replay
from tests.support.silences import a_silence, silenced


PAUSES = (1, 14, 29, 30, 31, 61, 100, 299, 400, 630, 4000)
ENDS = (1, 20, 45, 100, 500, 5000)
CLUSTER_REASONS = ("clusterCRD", "clusterIstio", "clusterKaito")
MODEL_REASONS = ("inferencesetPods", "inferencesetRoute", "inferencesetSlow")

TROUBLES = st.builds(
    a_trouble,
    st.just("one"),
    st.sampled_from(list(TroubleKind)),
    code=st.sampled_from(["Crash", "Image"]),
    is_out=st.booleans(),
    is_crash=st.sampled_from([False, False, True]),
)
PLACES = st.sampled_from(
    [
        ({}, CLUSTER_REASONS),
        ({"namespace": "team-a"}, MODEL_REASONS),
        ({"namespace": "team-a", "inferenceset": SETS[0].name}, MODEL_REASONS),
    ]
)


class SilenceStateMachine(RuleBasedStateMachine):
    """*plain*: the same story without silences. *checked*: how many writes were checked."""

    replay: Replay
    plain: Replay

    @initialize(emission=st.sampled_from(list(Emission)))
    def start(self, emission):
        subjects = frozenset({CLUSTER_SUBJECT, Subject(Layer.MODELHARNESS, "team-a"), *SETS})
        settings = EvaluationSettings(emission=emission)
        self.replay = Replay(CATALOGUE, settings, subjects=subjects)
        self.plain = Replay(CATALOGUE, settings, subjects=subjects)
        self.silences: tuple[SilenceText, ...] = ()
        self.checked, self.was_suppressed = 0, False

    def both(self, act):
        act(self.replay)
        act(self.plain)

    # ------------------------------------------------------------ what may happen

    @rule(key=st.sampled_from(KEYS), trouble=TROUBLES)
    def trouble(self, key, trouble):
        self.both(lambda each: each.set_verdicts(an_active_verdict(key, trouble)))

    @rule(number=st.integers(9, 12), trouble=TROUBLES)
    def trouble_with_many(self, number, trouble):
        verdicts = [an_active_verdict(key, trouble) for key in GROUPED[:number]]
        self.both(lambda each: each.set_verdicts(*verdicts))

    @rule(key=st.sampled_from(KEYS))
    def recovers(self, key):
        self.both(lambda each: each.set_clear(key))

    @rule()
    def all_recover(self):
        self.both(lambda each: each.set_clear(*KEYS, *GROUPED))

    @rule(key=st.sampled_from(KEYS))
    def becomes_unknown(self, key):
        self.both(lambda each: each.set_unknown(key))

    @rule(place=PLACES, number=st.integers(0, 3), lasts=st.sampled_from(ENDS))
    def is_silenced(self, place, number, lasts):
        fields, reasons = place
        name = (*reasons, "all")[number]
        until = self.replay.now.replace(microsecond=0) + timedelta(seconds=lasts)
        self.silences = (*self.silences, a_silence(name, until=until, **fields))
        silenced(self.replay, *self.silences)
        self.plain.run_pass()

    @rule()
    def silences_are_removed(self):
        self.silences = ()
        silenced(self.replay)
        self.plain.run_pass()

    @rule(pause=st.sampled_from(PAUSES))
    def time_passes(self, pause):
        self.both(lambda each: each.advance(pause))

    # ------------------------------------------------------------ what always holds

    @invariant()
    def nothing_is_announced_while_it_is_silenced(self):
        for record in self.replay.writes[self.checked :]:
            if record.type is EventType.WARNING and record.key.subject.name:
                assert not self.silencing(record.key, record.last_timestamp), record
        self.checked = len(self.replay.writes)

    def silencing(self, key, moment) -> list[SilenceText]:
        subject = key.subject
        return [
            each
            for each in self.silences
            if each.reasons in {("all",), (key.reason,)}
            and each.namespace == subject.namespace
            and each.inferenceset in {"", subject.name}
            and each.until > moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        ]

    @invariant()
    def what_lasts_is_announced_once_no_silence_is_about_it(self):
        for key, state in reason_states(self.replay.evaluation).items():
            assert (state == "silenced") <= (self.replay.evaluation.silence_of(key) is not None)
            if state == "announced":
                episodes = self.replay.announcement_state.episodes
                assert key in episodes or group_key(key) in episodes

    @property
    def is_comparable(self) -> bool:
        """
        Groups need a number of sets that are not silenced, and a suppression that lifts extends the
        holds of what was not announced. Without both, the two stories differ in what is announced alone.
        """
        self.was_suppressed |= bool(self.plain.evaluation.suppressions.suppressed_by)
        records = (*self.replay.writes, *self.plain.writes)
        return not self.was_suppressed and not any(
            r.key.subject.layer is Layer.MODELDEPLOYMENT and not r.key.subject.name
            for r in records
        )

    @invariant()
    def no_state_but_that_of_announcing_differs(self):
        if not self.is_comparable:
            return
        with_silences = reason_states(self.replay.evaluation)
        without = reason_states(self.plain.evaluation)
        assert with_silences.keys() == without.keys()
        shown = {"silenced", "announced", "outranked"}
        for key, state in with_silences.items():
            assert without[key] == state or {without[key], state} <= shown
            is_silenced = self.replay.evaluation.silence_of(key) is not None
            assert is_silenced or without[key] != "announced" or state == "announced"

    @invariant()
    def a_silence_hides_no_other_finding(self):
        evaluation = self.replay.evaluation
        for key, state in reason_states(evaluation).items():
            if state == "outranked":
                above = evaluation.ranking_of(key.subject).primary
                assert above
                assert all(evaluation.silence_of(each) is None for each in above)

    @invariant()
    def no_recovery_waits_for_a_silence(self):
        if not self.is_comparable:
            return
        owed: dict = {}
        recovered = {
            (r.key, r.last_timestamp) for r in self.plain.writes if r.type is EventType.NORMAL
        }
        for record in self.replay.writes:
            if record.type is EventType.NORMAL:
                assert (record.key, record.last_timestamp) in recovered
                owed.pop(record.key.subject, None)
            elif not CATALOGUE[record.key.reason].orthogonal:
                owed[record.key.subject] = record.last_timestamp
        for key, moment in recovered:
            assert not (key.subject in owed and owed[key.subject] < moment), "it waits"


TestSilenceStateMachine = SilenceStateMachine.TestCase
