"""The cause of a subject: which of several, with its text of this moment."""

from reporter.model.enums import Layer, TroubleKind
from reporter.model.states import State
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Active, ObjectRef
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.document import StatusView
from reporter.rollup.findings import NO_FINDINGS, SubjectFindings
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp, SubjectState
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.subject_states import Facts, StateReason, make_subject_state
from tests.support.builders import (
    HOUR,
    INVOLVED,
    MINUTE,
    NOON,
    a_catalogue,
    a_suppression,
    a_trouble,
)
from tests.support.replay import Replay
from tests.support.replay_builders import ENTRIES, ISTIO, KAITO, MODELS, PODS, SET, out
from tests.support.rollups import BAD_IMAGE, stack_after, view_of


POD = "Pod team-m/qwen-7rk2p-0"


class Watched:
    """A namespace with one InferenceSet, whose pods depend on Istio and KAITO."""

    def __init__(self) -> None:
        rows = (
            a_suppression("clusterKaito", "inferencesetPods"),
            a_suppression("clusterIstio", "inferencesetPods"),
        )
        catalogue = a_catalogue(*ENTRIES, *MODELS, rows=rows)
        harness = Subject(Layer.MODELHARNESS, SET.namespace)
        self.replay = Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, harness, SET}))
        self.rules, self.rollup = RollUpRules(catalogue, {}), RollUp()
        self.fold()

    def given(self, *evaluated: Subject) -> RollUpInput:
        """Return the last pass, as one over these subjects; over all without any."""
        replay = self.replay
        return RollUpInput(
            evaluation=replay.evaluation,
            snapshot=replay.store.snapshot(),
            changed=replay.evaluation.changed_since(self.rollup.evaluation),
            evaluated=frozenset(evaluated) or replay.subjects,
            dirty=frozenset(evaluated),
            now=replay.now,
            episodes={},
        )

    def fold(self, *evaluated: Subject) -> StatusView:
        self.rollup = fold(self.rollup, self.given(*evaluated), self.rules)
        return StatusView(self.rollup, self.rules, now=self.replay.now)

    def subject_state(
        self, before: SubjectState | None, found: SubjectFindings, facts: Facts
    ) -> SubjectState:
        """Return the subject_state of the cluster with these findings and facts."""
        blockers, now = BlockerFinder(self.given(), self.rules), self.replay.now
        return make_subject_state(before, CLUSTER_SUBJECT, found, facts, blockers, now=now)

    def cause_of_set(self):
        found = self.fold().inference_set(SET.namespace, SET.name)
        assert found is not None
        assert found.blocking is not None
        return found.blocking


# ---------------------------------------------------------------- one of several


def test_of_several_causes_upstream_one_that_recovers_does_not_hide_one_that_is_out():
    watched = Watched()
    watched.replay.set_verdicts(out(ISTIO), out(KAITO), out(PODS)).advance(60)
    assert watched.cause_of_set().reason == "clusterIstio"
    watched.replay.set_clear(ISTIO)
    found = watched.cause_of_set()
    assert (found.reason, found.code, found.pointer) == ("clusterKaito", "Broken", True)


def test_of_several_causes_upstream_one_that_is_unknown_does_not_hide_one_that_is_out():
    watched = Watched()
    watched.replay.set_verdicts(out(ISTIO), out(KAITO), out(PODS)).advance(60)
    watched.replay.set_unknown(ISTIO)
    found = watched.cause_of_set()
    assert (found.reason, found.code) == ("clusterKaito", "Broken")


def test_what_cannot_be_evaluated_any_longer_is_unknown_although_other_trouble_is_held():
    """
    A verdict is partial: the trouble of one object was announced and is open, that of another is new.
    """
    watched = Watched()
    one = a_trouble("one", TroubleKind.LOST)
    watched.replay.set_verdicts(Active(KAITO, (one,), INVOLVED)).advance(60)
    assert watched.fold().cluster().state is State.FAILED
    two = a_trouble("two", TroubleKind.STARTING)
    open_ = frozenset({ObjectRef("things", "system", "one")})
    partial = Active(KAITO, (two,), INVOLVED, why_partial="its status is old", open_objects=open_)
    watched.replay.set_verdicts(partial)
    found = watched.fold().cluster()
    assert (found.state, found.last_known) == (State.UNKNOWN, State.FAILED)
    assert (found.blocking.reason, found.blocking.code) == ("clusterKaito", "Unknown")
    assert found.blocking.since == watched.replay.now
    watched.replay.advance(61)
    found = watched.fold().cluster()
    assert (found.state, found.blocking.object) == (State.FAILED, "things system/two")
    assert "Thing one" not in found.blocking.message


def test_progress_without_trouble_has_its_window_from_the_end_of_the_trouble():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO, kind=TroubleKind.STARTING))
    first = watched.subject_state(None, SubjectFindings(held=(KAITO,)), Facts())
    assert first.blocker.held
    watched.replay.advance(HOUR)
    progress = Facts(progress=StateReason("Scaling", "1 of 2 replicas are ready."))
    second = watched.subject_state(first, NO_FINDINGS, progress)
    assert (second.state, second.since) == (State.IN_PROGRESS, NOON)
    assert (second.blocker.since, second.blocker.stalled) == (NOON + HOUR, False)
    watched.replay.advance(6 * MINUTE)
    third = watched.subject_state(second, NO_FINDINGS, progress)
    assert (third.blocker.since, third.blocker.stalled) == (NOON + HOUR, True)


# ---------------------------------------------------------------- texts


def test_another_text_of_the_same_cause_is_a_change():
    replay = stack_after({POD: {**BAD_IMAGE[POD], "message": "manifest unknown"}})
    before, view = replay.rollup, view_of(replay)
    assert "manifest unknown" in view.inference_set("team-m", "qwen").blocking.message
    replay._change({POD: {"message": "no credentials"}}, now=replay.now)
    replay.run_pass()
    found = view_of(replay).inference_set("team-m", "qwen")
    assert "no credentials" in found.blocking.message
    assert replay.rollup.revision > before.revision
    assert replay.rollup.namespaces["team-m"].revision > before.namespaces["team-m"].revision
    assert replay.rollup.namespaces["team-a"] is before.namespaces["team-a"]


def test_another_text_of_a_cause_upstream_is_a_change_of_all_that_it_blocks():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO), out(PODS)).advance(60)
    watched.cause_of_set()
    before = watched.rollup.namespaces[SET.namespace]
    fields = {"object": "Thing thing", "state": "is in pieces", "pods": ""}
    watched.replay.set_verdicts(out(KAITO, message_fields=fields))
    found = watched.fold(CLUSTER_SUBJECT).inference_set(SET.namespace, SET.name)
    assert "is in pieces" in found.blocking.message
    assert watched.rollup.namespaces[SET.namespace].revision > before.revision


def test_a_view_of_an_earlier_moment_keeps_its_text():
    watched = Watched()
    watched.replay.set_verdicts(out(KAITO)).advance(60)
    earlier = watched.fold()
    watched.replay.set_clear(KAITO).advance(60)
    assert watched.fold().cluster().blocking is None
    assert "is broken" in earlier.cluster().blocking.message
