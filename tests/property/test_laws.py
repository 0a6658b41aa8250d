"""
What holds whatever happens: random trouble, blindness, pauses, restarts and lost answers.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reporter.model.entries import Catalogue
from reporter.model.enums import Emission, EventType, Layer, Reason, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.model.verdicts import Active
from reporter.stages.announcing.eligibility import announceable_keys
from reporter.stages.announcing.grouping import group_key
from reporter.stages.announcing.outcome import WriteOutcome
from reporter.stages.evaluation.clocks import READ_BACK_WINDOW
from reporter.stages.evaluation.evaluation import EvaluationSettings
from reporter.stages.evaluation.holds import CRASH_SETTLE
from reporter.stages.evaluation.states import reason_states
from tests.support.builders import (
    MINUTE,
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


SETS = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(12)]
MODELS = {"layer": Layer.MODELDEPLOYMENT}
ENTRIES = (
    an_entry("clusterCRD", 10),
    an_entry("clusterIstio", 20),
    an_entry("clusterKaito", 30, settle=MINUTE),
    an_entry("inferencesetPods", 10, **MODELS),
    an_entry("inferencesetRoute", 20, **MODELS),
    an_entry("inferencesetSlow", None, orthogonal=True, **MODELS),
)
ROWS = (
    a_suppression("clusterKaito", "inferencesetPods"),
    a_suppression("clusterIstio", "inferencesetRoute"),
)
BASE = a_catalogue(*ENTRIES, rows=ROWS)
CATALOGUE = Catalogue(
    BASE.entries,
    BASE.suppressions,
    missing_crd_reason=Reason("clusterCRD"),
    required_crds_by_reason={Reason("inferencesetPods"): frozenset({"crd-0"})},
)
KEYS = (
    *(a_key("clusterCRD", item=f"crd-{i}") for i in range(2)),
    a_key("clusterIstio"),
    a_key("clusterKaito"),
    *(
        a_key(reason, subject)
        for subject in SETS[:2]
        for reason in ("inferencesetPods", "inferencesetRoute", "inferencesetSlow")
    ),
)
GROUPED = tuple(a_key("inferencesetPods", subject) for subject in SETS)
GROUP = group_key(GROUPED[0])
PAUSES = (0.001, 1, 9, 14, 15, 16, 29, 30, 31, 45, 60, 61, 100, 299, 400, 630)

TROUBLES = st.builds(
    a_trouble,
    st.sampled_from(["one", "two"]),
    st.sampled_from(list(TroubleKind)),
    code=st.sampled_from(["Crash", "Image"]),
    is_out=st.booleans(),
    is_crash=st.sampled_from([False, False, True]),
)


@dataclass
class CheckedReplay(Replay):
    """
    A play in which every look and every write is held to the laws.

    *steady*: since when a key has been in the same trouble, seen and not suppressed. *well*: since
    when nothing was wrong with a subject. *cleared*: keys that were clear since their last write.
    *told*: subjects of which something was announced. *members*: of the group, while it had any.
    """

    active_since: dict = field(default_factory=dict)
    clear_since: dict = field(default_factory=dict)
    clear_since_write: set = field(default_factory=set)
    announced_subjects: set = field(default_factory=set)
    members: frozenset = frozenset()
    checked_writes: int = 0

    def run_pass(self) -> "CheckedReplay":
        blind = {
            k: r
            for k, r in self.evaluation.gate.finding_states.items()
            if isinstance(self.verdicts.get(k), str)
        }
        super().run_pass()
        for key, before in blind.items():
            if key.subject in self.subjects and isinstance(self.verdicts.get(key), str):
                self.check_unchanged_while_unknown(key, before)
        self.track_active_since()
        for record in self.writes[self.checked_writes :]:
            self.check_write(record)
        self.checked_writes = len(self.writes)
        return self

    # ------------------------------------------------------------ at each look

    def check_unchanged_while_unknown(self, key, before):
        after = self.evaluation.gate.finding_states[key]
        assert after.clocks.keys() == before.clocks.keys(), "cleared or raised on Unknown"
        for ref, watch in before.clocks.items():
            assert watch.past_hold or not after.clocks[ref].past_hold, "through on Unknown"
            assert watch.active == after.clocks[ref].active, "changed on Unknown"

    def track_active_since(self):
        found = reason_states(self.evaluation)
        self.clear_since_write |= {key for key in (*KEYS, *GROUPED) if key not in found}
        group = self.announcement_state.groups.get(GROUP)
        self.members = group.members if group is not None and group.members else self.members
        if not any(FindingKey(member, GROUP.reason) in found for member in self.members):
            self.clear_since_write.add(GROUP)
        for key in {*KEYS, *GROUPED}:
            said = self.verdicts.get(key)
            silent = key in self.evaluation.suppressions.suppressed_by
            if not isinstance(said, Active) or silent or key.subject not in self.subjects:
                self.active_since.pop(key, None)
                continue
            kinds = {t.cause.object: t.kind for t in said.troubles}
            if self.active_since.get(key, (None, None))[1] != kinds:
                self.active_since[key] = (self.now, kinds)
        for subject in self.subjects:
            wrong = any(
                k.subject == subject and v is not None and k.reason != "inferencesetSlow"
                for k, v in self.verdicts.items()
            )
            if wrong:
                self.clear_since.pop(subject, None)
            else:
                self.clear_since.setdefault(subject, self.now)

    # ------------------------------------------------------------ at each write

    def check_write(self, record):
        key = record.key
        if record.type is EventType.NORMAL:
            assert self.becomes_ready_at(record), f"{key} though something is wrong"
            assert key.subject in self.announced_subjects, (
                f"{key} and nothing was announced before"
            )
            return
        self.announced_subjects |= {key.subject} if not CATALOGUE[key.reason].orthogonal else set()
        earlier = [r for r in self.writes[: self.checked_writes] if r.key == key]
        if earlier and earlier[-1].episode_start != record.episode_start:
            recent = record.first_timestamp - earlier[-1].last_timestamp <= READ_BACK_WINDOW
            assert key in self.clear_since_write or not recent, f"{key} has two episodes in one"
        self.clear_since_write.discard(key)
        if key.subject.layer is Layer.MODELDEPLOYMENT and not key.subject.name:
            members = [k for k in GROUPED if isinstance(self.verdicts.get(k), Active)]
            assert members, f"{key} written of nobody"
            return
        assert isinstance(self.verdicts.get(key), Active), f"{key} written, and it is not there"
        assert key not in self.evaluation.suppressions.suppressed_by, (
            f"{key} written, and it is suppressed"
        )

    def becomes_ready_at(self, record) -> bool:
        """
        Whether nothing ranked is there or unknown; of a group, with those that it names.
        """
        named = {s for s in SETS if s.name in record.message}
        subjects = named if record.key.subject not in self.subjects else {record.key.subject}
        ranked = [k for k in self.verdicts if not CATALOGUE[k.reason].orthogonal]
        return all(self.verdicts[k] is None for k in ranked if k.subject in subjects)


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
    def all_but_some_heal(self, number):
        self.replay.set_clear(*GROUPED[number:])

    @rule(key=st.sampled_from(KEYS))
    def heals(self, key):
        self.replay.set_clear(key)

    @rule(key=st.sampled_from(KEYS))
    def becomes_unknown(self, key):
        self.replay.set_unknown(key)

    @rule()
    def all_heals(self):
        self.replay.set_clear(*KEYS, *GROUPED)

    @rule(pause=st.sampled_from(PAUSES))
    def time_passes(self, pause):
        before = self.replay.evaluation
        self.replay.advance(pause)
        after = self.replay.evaluation
        for key, record in before.gate.finding_states.items():
            if (
                record.why_unknown
                or key in before.suppressions.suppressed_by
                or key in after.suppressions.suppressed_by
            ):
                continue
            now_through = (
                {w.trouble.cause.object for w in after.gate.finding_states[key].announceable}
                if (record.announceable)
                else set()
            )
            assert {w.trouble.cause.object for w in record.announceable} <= now_through

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
        before, heard = self.replay.announcement_state.episodes, len(self.replay.writes)
        self.replay.restart(back_after=pause)
        for record in self.replay.writes[heard:]:
            old = before.get(record.key)
            beats = old is not None and self.replay.now - old.event.last_timestamp > 4 * MINUTE
            same = (
                old is not None
                and old.event.content_digest == record.content_digest
                and not old.uncertain
            )
            assert beats or not same, "written for the restart itself"

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
        found = reason_states(self.replay.evaluation)
        for key, said in self.replay.verdicts.items():
            if key.subject in self.replay.subjects:
                assert key in found
                assert (found[key] == "unknown") == isinstance(said, str)

    @invariant()
    def what_is_announced_has_an_event(self):
        for key, state in reason_states(self.replay.evaluation).items():
            loud = state == "announced" or (
                state == "outranked" and self.replay.settings.emission is Emission.ALL
            )
            if loud:
                episodes = self.replay.announcement_state.episodes
                assert key in episodes or group_key(key) in episodes

    @invariant()
    def trouble_that_lasts_is_through_when_its_hold_is_over(self):
        settle = self.replay.settings.delays.settle
        for key, (since, kinds) in self.replay.active_since.items():
            entry = CATALOGUE[key.reason]
            grace = self.replay.settings.delays.grace
            record = self.replay.evaluation.gate.finding_states[key]
            for ref, kind in kinds.items():
                hold = max(entry.holds.for_kind(kind, grace=grace), settle)
                if self.replay.now - since >= hold:
                    assert record.clocks[ref].past_hold

    @invariant()
    def one_warning_speaks_for_a_subject(self):
        if self.replay.settings.emission is Emission.PRIMARY:
            loud = defaultdict(set)
            for key in announceable_keys(
                self.replay.announcement_state, self.replay.evaluation, self.replay.settings
            ):
                if not CATALOGUE[key.reason].orthogonal:
                    loud[key.subject].add(key.reason)
            assert all(len(reasons) == 1 for reasons in loud.values())

    @invariant()
    def counts_go_up_by_one(self):
        counts = defaultdict(list)
        for record in self.replay.writes:
            counts[record.key, record.episode_start].append(record.count)
        for each in counts.values():
            assert each[0] == 1
            assert all(b - a in {0, 1} for a, b in itertools.pairwise(each))

    @invariant()
    def what_is_well_for_long_enough_is_said_to_be(self):
        for subject, since in self.replay.clear_since.items():
            if self.replay.now - since > CRASH_SETTLE + MINUTE:
                assert subject not in self.replay.announcement_state.ready_owed

    @invariant()
    def a_message_fits(self):
        assert all(len(r.message.encode()) <= 1024 for r in self.replay.writes[-3:])


TestReplayStateMachine = ReplayStateMachine.TestCase
