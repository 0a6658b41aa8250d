"""A pass that is cut for a change ends as two passes would, one after the other."""

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import field
from msgspec.structs import fields

from reporter.catalogue.entries import ProbeSpec
from reporter.evaluation import pipeline
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.suppression import with_upstream
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.model.verdicts import Clear, Paused, Unknown
from reporter.probes.probe import Probe
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from tests.support.builders import (
    NOON,
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.subject_store import a_subject_store


GATEWAYS = tuple(Subject(Layer.MODELHARNESS, f"team-{i}") for i in range(2))
MODELS = tuple(
    Subject(Layer.MODELDEPLOYMENT, f"team-{i}", f"model-{j}") for i in range(2) for j in range(4)
)
SUBJECTS = frozenset({CLUSTER_SUBJECT, *GATEWAYS, *MODELS})
CATALOGUE = a_catalogue(
    an_entry("clusterKaito", 10),
    an_entry("modelharnessGateway", 10, layer=Layer.MODELHARNESS),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetRoute", 20, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)
KEYS = tuple(
    a_key(entry.reason, subject)
    for entry in CATALOGUE.entries.values()
    if not entry.is_ready_reason
    for subject in sorted(SUBJECTS)
    if subject.layer is entry.layer
)


SNAPSHOT = a_subject_store(SUBJECTS).snapshot()


class World(Snapshot, frozen=True):
    """
    A snapshot in which each key is in trouble, paused (None) or unknown (a text); else clear.
    """

    verdicts: Mapping[FindingKey, object] = field(default_factory=dict)

    def with_changes(self, changes: Mapping[FindingKey, object]) -> "World":
        return a_world({**self.verdicts, **changes})


def a_world(verdicts: Mapping[FindingKey, object]) -> World:
    same = {each.name: getattr(SNAPSHOT, each.name) for each in fields(SNAPSHOT)}
    return World(**same, verdicts=verdicts)


def evaluate_key(world, request):
    key = request.key()
    match world.verdicts.get(key, "clear"):
        case "clear":
            return [Clear(key)]
        case None:
            return [Paused(key)]
        case str() as why:
            return [Unknown(key, why)]
        case trouble:
            return [an_active_verdict(key, trouble)]


EVALUATOR = Evaluator(
    CATALOGUE, {"none": Probe(ProbeSpec("none", object), evaluate_key)}, {}, EvaluationSettings()
)

TROUBLES = st.builds(
    a_trouble,
    st.sampled_from(["one", "two"]),
    st.sampled_from(list(TroubleKind)),
    is_out=st.booleans(),
)
VERDICTS = st.one_of(st.just("clear"), st.just("clear"), st.just("unknown"), st.none(), TROUBLES)
CHANGES = st.dictionaries(st.sampled_from(KEYS), VERDICTS, max_size=8)
SPANS = st.sampled_from([timedelta(0), timedelta(seconds=1), timedelta(seconds=31)])


@pytest.fixture(autouse=True, scope="module")
def small_batches() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SUBJECTS_PER_BATCH", 1)
        yield


def plan_pass(evaluation: Evaluation, world, dirty=ALL_LAYERS, *, now=NOON):
    return pipeline.run_to_end(EVALUATOR.plan(evaluation, world, dirty, now=now))


@dataclasses.dataclass
class Run:
    """One evaluator through time; every part of a pass is committed as the controller does it."""

    evaluation: Evaluation = dataclasses.field(default_factory=Evaluation)
    now = NOON

    def run_pass(self, world, dirty=ALL_LAYERS, *, stop_after=None, waiting=frozenset()):
        """Returns the subjects that still wait after *stop_after* batches."""
        plan = plan_pass(self.evaluation, world, dirty, now=self.now)
        progress = EVALUATOR.begin(self.evaluation, plan)
        for number, batch in enumerate(plan.batches()):
            if number == stop_after:
                break
            progress = pipeline.run_to_end(EVALUATOR.run_batch(progress, plan, batch))
        self.evaluation = pipeline.run_to_end(EVALUATOR.finish(self.evaluation, plan, progress))
        return plan.still_waiting(progress, waiting)

    def findings(self):
        """Everything later decisions are made from, with clocks as they stand at this moment."""
        states = self.evaluation.tracked.finding_states
        return {
            "states": {key: self.evaluation.finding_state_of(key) for key in states},
            "unknown": dict(self.evaluation.tracked.unknown_states),
            "suppressed": dict(self.evaluation.suppressions.suppressed_by),
            "rankings": dict(self.evaluation.rankings),
            "paused": self.evaluation.paused,
            "not ready": self.evaluation.not_ready,
        }

    def seen(self, key):
        """Return the state of a key; an unknown key keeps the state that was seen before."""
        state = self.evaluation.tracked.finding_states.get(key)
        if key in self.evaluation.tracked.unknown_states or (state and state.why_unknown):
            return "unknown"
        return set(state.troubles) if state else set()


def two_runs(history) -> tuple[Run, Run, World]:
    """Two evaluators with the same past, and the world at its end."""
    runs, world = (Run(), Run()), a_world({})
    for changes, span in history:
        world = world.with_changes(changes)
        for run in runs:
            run.run_pass(world)
            run.now += span
    return *runs, world


HISTORY = st.lists(st.tuples(CHANGES, SPANS), min_size=1, max_size=4)


@given(HISTORY, CHANGES, st.integers(1, len(SUBJECTS)), SPANS, SPANS)
def test_a_cut_resync_ends_as_a_small_pass_and_a_full_one(history, changes, stop, span, later):
    cut, whole, world = two_runs(history)
    changed = frozenset(key.subject for key in changes)
    waiting = cut.run_pass(world, stop_after=stop)
    whole.run_pass(world)
    world = world.with_changes(changes)
    cut.now = whole.now = cut.now + span
    waiting = cut.run_pass(world, with_upstream(changed, waiting), waiting=waiting)
    whole.run_pass(world, changed)
    cut.now = whole.now = cut.now + later
    assert not cut.run_pass(world, waiting)
    whole.run_pass(world)
    assert cut.findings() == whole.findings()


@given(HISTORY, CHANGES, CHANGES, st.integers(1, len(SUBJECTS)))
def test_a_cut_pass_has_seen_every_change_once_it_ends(history, first, second, stop):
    cut, whole, world = two_runs(history)
    world = world.with_changes(first)
    waiting = cut.run_pass(world, stop_after=stop)
    world = world.with_changes(second)
    changed = frozenset(key.subject for key in second)
    waiting = cut.run_pass(world, with_upstream(changed, waiting), waiting=waiting)
    assert not cut.run_pass(world, waiting)
    whole.run_pass(world)
    assert [cut.seen(key) for key in KEYS] == [whole.seen(key) for key in KEYS]
    assert cut.evaluation.paused == whole.evaluation.paused


@given(CHANGES)
def test_a_pass_that_evaluates_a_reason_for_the_first_time_is_not_cut(changes):
    run, world = Run(), a_world(changes)
    assert not plan_pass(run.evaluation, world).can_be_cut
    run.run_pass(a_world({}))
    assert plan_pass(run.evaluation, world).can_be_cut


def test_upstream_layers_are_evaluated_first():
    plan = plan_pass(Evaluation(), a_world({}))
    assert list(plan.subjects) == [CLUSTER_SUBJECT, *GATEWAYS, *MODELS]


def test_what_may_suppress_a_changed_subject_does_not_wait_for_the_rest():
    urgent = frozenset({MODELS[0]})
    assert with_upstream(urgent, SUBJECTS) == {MODELS[0], GATEWAYS[0], CLUSTER_SUBJECT}
    assert with_upstream(urgent, frozenset(MODELS)) == urgent
