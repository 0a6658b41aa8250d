"""
What holds whatever happens: random trouble, blindness, pauses, restarts and lost answers.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reporter.model.entries import Catalogue
from reporter.model.subjects import CLUSTER, Key, Subject
from reporter.model.verdicts import Active
from reporter.model.words import Emission, EventType, Kind, Layer, Reason
from reporter.stages.collapse import group_key
from reporter.stages.gate import CRASH_SETTLE
from reporter.stages.judgement import Terms
from reporter.stages.outcome import Outcome
from reporter.stages.records import READ_BACK
from reporter.stages.states import states
from reporter.stages.voice import speakers
from tests.builders import MINUTE, a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play


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
ROWS = (a_row("clusterKaito", "inferencesetPods"), a_row("clusterIstio", "inferencesetRoute"))
BASE = a_catalogue(*ENTRIES, rows=ROWS)
CATALOGUE = Catalogue(
    BASE.entries,
    BASE.suppressions,
    crd_source=Reason("clusterCRD"),
    demanded={Reason("inferencesetPods"): frozenset({"crd-0"})},
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
    st.sampled_from(list(Kind)),
    code=st.sampled_from(["Crash", "Image"]),
    out=st.booleans(),
    crash=st.sampled_from([False, False, True]),
)


@dataclass
class Lawful(Play):
    """
    A play in which every look and every write is held to the laws.

    *steady*: since when a key has been in the same trouble, seen and not suppressed. *well*: since
    when nothing was wrong with a subject. *cleared*: keys that were clear since their last write.
    *told*: subjects of which something was announced. *members*: of the group, while it had any.
    """

    steady: dict = field(default_factory=dict)
    well: dict = field(default_factory=dict)
    cleared: set = field(default_factory=set)
    told: set = field(default_factory=set)
    members: frozenset = frozenset()
    heard: int = 0

    def step(self) -> "Lawful":
        blind = {
            k: r for k, r in self.judged.gate.records.items() if isinstance(self.says.get(k), str)
        }
        super().step()
        for key, before in blind.items():
            if key.subject in self.subjects and isinstance(self.says.get(key), str):
                self.nothing_happened_unseen(key, before)
        self.follow_steadiness()
        for record in self.written[self.heard :]:
            self.may_be_written(record)
        self.heard = len(self.written)
        return self

    # ------------------------------------------------------------ at each look

    def nothing_happened_unseen(self, key, before):
        after = self.judged.gate.records[key]
        assert after.watches.keys() == before.watches.keys(), "cleared or raised on Unknown"
        for ref, watch in before.watches.items():
            assert watch.through or not after.watches[ref].through, "through on Unknown"
            assert watch.active == after.watches[ref].active, "changed on Unknown"

    def follow_steadiness(self):
        found = states(self.judged)
        self.cleared |= {key for key in (*KEYS, *GROUPED) if key not in found}
        group = self.voice.groups.get(GROUP)
        self.members = group.members if group is not None and group.members else self.members
        if not any(Key(member, GROUP.reason) in found for member in self.members):
            self.cleared.add(GROUP)
        for key in {*KEYS, *GROUPED}:
            said = self.says.get(key)
            silent = key in self.judged.silence.by
            if not isinstance(said, Active) or silent or key.subject not in self.subjects:
                self.steady.pop(key, None)
                continue
            kinds = {t.cause.object: t.kind for t in said.troubles}
            if self.steady.get(key, (None, None))[1] != kinds:
                self.steady[key] = (self.now, kinds)
        for subject in self.subjects:
            wrong = any(
                k.subject == subject and v is not None and k.reason != "inferencesetSlow"
                for k, v in self.says.items()
            )
            if wrong:
                self.well.pop(subject, None)
            else:
                self.well.setdefault(subject, self.now)

    # ------------------------------------------------------------ at each write

    def may_be_written(self, record):
        key = record.key
        if record.type is EventType.NORMAL:
            assert self.well_at(record), f"{key} though something is wrong"
            assert key.subject in self.told, f"{key} and nothing was announced before"
            return
        self.told |= {key.subject} if not CATALOGUE[key.reason].orthogonal else set()
        earlier = [r for r in self.written[: self.heard] if r.key == key]
        if earlier and earlier[-1].episode != record.episode:
            recent = record.first - earlier[-1].last <= READ_BACK
            assert key in self.cleared or not recent, f"{key} has two episodes in one"
        self.cleared.discard(key)
        if key.subject.layer is Layer.MODELDEPLOYMENT and not key.subject.name:
            members = [k for k in GROUPED if isinstance(self.says.get(k), Active)]
            assert members, f"{key} written of nobody"
            return
        assert isinstance(self.says.get(key), Active), f"{key} written, and it is not there"
        assert key not in self.judged.silence.by, f"{key} written, and it is suppressed"

    def well_at(self, record) -> bool:
        """
        Whether nothing ranked is there or unknown; of a group, with those that it names.
        """
        named = {s for s in SETS if s.name in record.message}
        subjects = named if record.key.subject not in self.subjects else {record.key.subject}
        ranked = [k for k in self.says if not CATALOGUE[k.reason].orthogonal]
        return all(self.says[k] is None for k in ranked if k.subject in subjects)


class Laws(RuleBasedStateMachine):
    play: Lawful

    @initialize(emission=st.sampled_from(list(Emission)))
    def begin(self, emission):
        self.play = Lawful(
            CATALOGUE, Terms(emission=emission), subjects=frozenset({CLUSTER, *SETS})
        )

    # ------------------------------------------------------------ what may happen

    @rule(key=st.sampled_from(KEYS), troubles=st.lists(TROUBLES, min_size=1, max_size=2))
    def trouble(self, key, troubles):
        by_object = {t.cause.object: t for t in troubles}
        self.play.say(active(key, *(by_object[ref] for ref in sorted(by_object))))

    @rule(number=st.integers(8, 12), trouble=TROUBLES)
    def trouble_with_many(self, number, trouble):
        self.play.say(*(active(key, trouble) for key in GROUPED[:number]))

    @rule(number=st.integers(0, 12))
    def all_but_some_heal(self, number):
        self.play.clear(*GROUPED[number:])

    @rule(key=st.sampled_from(KEYS))
    def heals(self, key):
        self.play.clear(key)

    @rule(key=st.sampled_from(KEYS))
    def out_of_sight(self, key):
        self.play.unknown(key)

    @rule()
    def all_heals(self):
        self.play.clear(*KEYS, *GROUPED)

    @rule(pause=st.sampled_from(PAUSES))
    def time_passes(self, pause):
        before = self.play.judged
        self.play.after(pause)
        after = self.play.judged
        for key, record in before.gate.records.items():
            if record.unknown or key in before.silence.by or key in after.silence.by:
                continue
            now_through = (
                {w.trouble.cause.object for w in after.gate.records[key].spoken}
                if (record.spoken)
                else set()
            )
            assert {w.trouble.cause.object for w in record.spoken} <= now_through

    @rule(subject=st.sampled_from(SETS[:2]))
    def is_deleted(self, subject):
        self.play.subjects -= {subject}
        self.play.says = {k: v for k, v in self.play.says.items() if k.subject != subject}
        self.play.well.pop(subject, None)
        self.play.cleared.add(GROUP)
        self.play.step()
        assert subject not in self.play.voice.owed
        assert not any(key.subject == subject for key in self.play.voice.episodes)

    @rule(subject=st.sampled_from(SETS[:2]))
    def is_created(self, subject):
        self.play.subjects |= {subject}
        self.play.step()

    @rule(pause=st.sampled_from([0.0, 5.0, 40.0, 400.0, 4000.0]))
    def the_process_restarts(self, pause):
        self.play.steady.clear()
        self.play.well.clear()
        before, heard = self.play.voice.episodes, len(self.play.written)
        self.play.restart(back_after=pause)
        for record in self.play.written[heard:]:
            old = before.get(record.key)
            beats = old is not None and self.play.now - old.record.last > 4 * MINUTE
            same = old is not None and old.record.told == record.told and not old.uncertain
            assert beats or not same, "written for the restart itself"

    @rule(key=st.sampled_from(KEYS), trouble=TROUBLES)
    def an_answer_is_lost(self, key, trouble):
        self.play.outcome = Outcome.UNCERTAIN
        self.play.say(active(key, trouble))
        self.play.outcome = Outcome.WRITTEN

    @rule()
    def the_same_again(self):
        self.play.step()
        before = len(self.play.written)
        self.play.step()
        assert len(self.play.written) == before, "the same input twice announced twice"

    # ------------------------------------------------------------ what always holds

    @invariant()
    def nothing_real_is_hidden(self):
        found = states(self.play.judged)
        for key, said in self.play.says.items():
            if key.subject in self.play.subjects:
                assert key in found
                assert (found[key] == "unknown") == isinstance(said, str)

    @invariant()
    def what_is_announced_has_an_event(self):
        for key, state in states(self.play.judged).items():
            loud = state == "announced" or (
                state == "outranked" and self.play.terms.emission is Emission.ALL
            )
            if loud:
                episodes = self.play.voice.episodes
                assert key in episodes or group_key(key) in episodes

    @invariant()
    def trouble_that_lasts_is_through_when_its_hold_is_over(self):
        settle = self.play.terms.patience.settle
        for key, (since, kinds) in self.play.steady.items():
            entry = CATALOGUE[key.reason]
            grace = self.play.terms.patience.grace
            record = self.play.judged.gate.records[key]
            for ref, kind in kinds.items():
                hold = max(entry.holds.of(kind, grace=grace), settle)
                if self.play.now - since >= hold:
                    assert record.watches[ref].through

    @invariant()
    def one_warning_speaks_for_a_subject(self):
        if self.play.terms.emission is Emission.PRIMARY:
            loud = defaultdict(set)
            for key in speakers(self.play.voice, self.play.judged, self.play.terms):
                if not CATALOGUE[key.reason].orthogonal:
                    loud[key.subject].add(key.reason)
            assert all(len(reasons) == 1 for reasons in loud.values())

    @invariant()
    def counts_go_up_by_one(self):
        counts = defaultdict(list)
        for record in self.play.written:
            counts[record.key, record.episode].append(record.count)
        for each in counts.values():
            assert each[0] == 1
            assert all(b - a in {0, 1} for a, b in itertools.pairwise(each))

    @invariant()
    def what_is_well_for_long_enough_is_said_to_be(self):
        for subject, since in self.play.well.items():
            if self.play.now - since > CRASH_SETTLE + MINUTE:
                assert subject not in self.play.voice.owed

    @invariant()
    def a_message_fits(self):
        assert all(len(r.message.encode()) <= 1024 for r in self.play.written[-3:])


TestLaws = Laws.TestCase
