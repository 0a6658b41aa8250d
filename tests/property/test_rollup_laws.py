"""
The laws of the roll-up under random trouble, Unknown verdicts and changes of objects.

Unknown or stale is never Current, a cause is no pointer, counts are those of the InferenceSets added
up, and what a pass touches is enough.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from reporter.kinds.kaito import (
    INFERENCE_SETS,
    InferenceSet,
    InferenceSetSpec,
    InferenceSetStatusFields,
)
from reporter.kinds.objects import AnnotatedMetadata
from reporter.model.enums import Layer, TroubleKind
from reporter.model.states import State
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from tests.property.checked_replay import CATALOGUE
from tests.support.builders import a_key, a_trouble, an_active_verdict, an_observed_condition
from tests.support.replay import Replay
from tests.support.rollups import added_up, distrusted


NAMESPACES = ("team-a", "team-b")
SETS = [Subject(Layer.MODELDEPLOYMENT, n, name) for n in NAMESPACES for name in ("phi", "qwen")]
HARNESSES = [Subject(Layer.MODELHARNESS, name) for name in NAMESPACES]
KEYS = (
    a_key("clusterIstio"),
    a_key("clusterKaito"),
    *(
        a_key(r, s)
        for s in SETS
        for r in ("inferencesetPods", "inferencesetRoute", "inferencesetSlow")
    ),
)
TROUBLES = st.builds(
    a_trouble,
    st.sampled_from(["one", "two"]),
    st.sampled_from(list(TroubleKind)),
    code=st.sampled_from(["Crash", "Image"]),
    is_out=st.booleans(),
)


def an_inference_set(subject: Subject, *, observed: int, replicas: int) -> InferenceSet:
    """Build an InferenceSet of generation 2."""
    meta = AnnotatedMetadata(name=subject.name, namespace=subject.namespace, generation=2)
    ready = an_observed_condition("InferenceSetReady", observed=observed)
    return InferenceSet(
        metadata=meta,
        spec=InferenceSetSpec(replicas=replicas),
        status=InferenceSetStatusFields(conditions=(ready,)),
    )


class RollUpStateMachine(RuleBasedStateMachine):
    @initialize()
    def start(self):
        subjects = frozenset({CLUSTER_SUBJECT, *SETS, *HARNESSES})
        self.replay = Replay(CATALOGUE, subjects=subjects)
        self.rollup_rules = RollUpRules(CATALOGUE, {})
        for subject in SETS:
            self.store(subject, observed=2, replicas=0)
        self.whole, self.incremental = RollUp(), RollUp()
        self.touched = self.replay.subjects

    def store(self, subject, **how):
        self.replay.store.upsert(INFERENCE_SETS, an_inference_set(subject, **how))

    @rule(key=st.sampled_from(KEYS), trouble=TROUBLES)
    def trouble(self, key, trouble):
        self.replay.set_verdicts(an_active_verdict(key, trouble))

    @rule(key=st.sampled_from(KEYS))
    def recovers(self, key):
        self.replay.set_clear(key)

    @rule(key=st.sampled_from(KEYS))
    def becomes_unknown(self, key):
        self.replay.set_unknown(key)

    @rule(subject=st.sampled_from(SETS), observed=st.integers(1, 2), replicas=st.integers(0, 1))
    def changes(self, subject, observed, replicas):
        self.store(subject, observed=observed, replicas=replicas)

    @rule(span=st.sampled_from((1, 16, 31, 61, 301, 1801)))
    def time_passes(self, span):
        self.replay.advance(span)

    @invariant()
    def holds(self):
        if not hasattr(self, "replay"):
            return
        replay = self.replay
        dirty = replay.store.take_dirty()
        given = RollUpInput(
            evaluation=replay.evaluation,
            snapshot=replay.store.snapshot(),
            changed=replay.evaluation.changed_since(self.incremental.evaluation),
            evaluated=replay.subjects,
            dirty=dirty,
            now=replay.now,
            episodes={
                k: e.event.episode_start for k, e in replay.announcement_state.episodes.items()
            },
        )
        self.whole = fold(distrusted(self.whole), given, self.rollup_rules)
        only = replace(given, evaluated=self.touched | (dirty & replay.subjects))
        self.incremental, self.touched = (
            fold(self.incremental, only, self.rollup_rules),
            frozenset(),
        )
        self.check_that_what_was_touched_is_enough()
        for name, namespace in self.whole.namespaces.items():
            assert namespace.totals == added_up(namespace.sets.values())
            for set_name, record in namespace.sets.items():
                self.check_set(Subject(Layer.MODELDEPLOYMENT, name, set_name), record)

    def check_that_what_was_touched_is_enough(self):
        whole, incremental = self.whole, self.incremental
        assert whole.cluster == incremental.cluster
        assert whole.namespaces.keys() == incremental.namespaces.keys()
        for name, namespace in whole.namespaces.items():
            other = incremental.namespaces[name]
            assert replace(namespace, revision=0, counted={}) == replace(
                other, revision=0, counted={}
            )

    def check_set(self, subject, record):
        tracked, subject_state = self.replay.evaluation.tracked, record.subject_state
        troubled = any(
            key.subject == subject and key.reason != "inferencesetSlow"
            for key in (*tracked.finding_states, *tracked.unknown_states)
        )
        if troubled or record.facts.progress.is_stale:
            assert subject_state.state is not State.CURRENT
        blocker = subject_state.blocker
        assert (blocker is None) == (subject_state.state is State.CURRENT)
        if blocker is not None and blocker.key is not None:
            assert blocker.key not in self.replay.evaluation.suppressions.suppressed_by
            assert blocker.reason not in blocker.via
            assert blocker.is_pointer == (blocker.key.subject != subject)
            assert blocker.since <= self.replay.now


TestRollUp = RollUpStateMachine.TestCase
