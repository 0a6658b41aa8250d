"""
The counts of the roll-up while subjects come, go and are renamed, are being deleted, or cannot be listed.

They are those of the objects, and what a pass touches is enough.
"""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Layer
from reporter.model.states import COUNTED_STATES, State
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.snapshot.subjects import expand_placeholders
from reporter.stories.story_replay import StoryReplay
from tests.support.catalogue_fixture import HARNESS_LABEL
from tests.support.rollups import distrusted


HARNESS = {"metadata": {"labels": dict([HARNESS_LABEL]), "deletionTimestamp": None}}
NO_LABEL = {"metadata": {"labels": None}}
ENDING = {"metadata": {"deletionTimestamp": "now"}}
TEAMS, MODELS = st.sampled_from(("team-a", "team-m")), st.sampled_from(("phi", "qwen"))
CHANGES = st.one_of(
    st.builds(
        lambda team, how: {f"Namespace {team}": how},
        TEAMS,
        st.sampled_from((HARNESS, NO_LABEL, ENDING, None)),
    ),
    st.builds(
        lambda team, model, how: {f"InferenceSet {team}/{model}": how},
        TEAMS,
        MODELS,
        st.sampled_from(({"spec": {"replicas": 0}}, {"spec": {"replicas": 1}}, ENDING, None)),
    ),
)
STEPS = st.one_of(
    CHANGES,
    CHANGES,
    st.integers(1, 61),
    st.sampled_from(
        (("inferencesets", "lost"), ("inferencesets", "open"), ("namespaces", "open"))
    ),
)


class Counted(StoryReplay):
    """A replay that folds each pass twice: all subjects, and those that changed alone."""

    incremental = RollUp()

    def __init__(self) -> None:
        super().__init__({"flags": {"scrape": "off"}, "story": []})

    def run_pass(self):
        self.rollup = distrusted(self.rollup)
        super().run_pass()
        given = self.given
        new = self.evaluation.subjects - self.incremental.evaluation.subjects
        dirty = expand_placeholders(given.dirty, self.evaluation.subjects)
        only = replace(given, evaluated=dirty | new)
        self.incremental = fold(self.incremental, only, self.rollup_rules)
        self.check_counts(self.rollup)
        self.check_counts(self.incremental)
        assert self.incremental.namespaces.keys() == self.rollup.namespaces.keys()
        assert {n: each.next_deadline for n, each in self.incremental.namespaces.items()} == {
            n: each.next_deadline for n, each in self.rollup.namespaces.items()
        }
        return self

    def rollup_input(self):
        self.given = super().rollup_input()
        return self.given

    def check_counts(self, rollup: RollUp) -> None:
        view = StatusView(rollup, self.rollup_rules, now=self.now)
        found = {each.name: each for each in view.namespaces()}
        assert {name: {s.name for s in n.inference_sets} for name, n in found.items()} == {
            name: self.models_of(name) for name in self.teams()
        }
        sets = [each for n in found.values() for each in n.inference_sets]
        assert Counter(rollup.count_sets()) == Counter(each.state for each in sets)
        assert Counter(rollup.count_namespaces()) == Counter(each.state for each in found.values())
        are_known = Layer.MODELDEPLOYMENT not in rollup.evaluation.known_subjects.unknown_layers
        for each in found.values():
            shown = each.counts.by_state() if each.counts is not None else {}
            expected = counts(s.state for s in each.inference_sets)
            # A zero is known only if all are listed.
            assert Counter(shown) == Counter(expected) if not are_known else shown == expected
        if not are_known:
            states = {each.state for each in sets} | {each.state for each in found.values()}
            assert states <= {State.UNKNOWN, State.FAILED, State.TERMINATING}

    def teams(self) -> set[str]:
        label, value = HARNESS_LABEL
        return {
            each.metadata.name
            for each in self.snapshot.all(NAMESPACES)
            if isinstance(each, Namespace) and each.metadata.label(label) == value
        }

    def models_of(self, team: str) -> set[str]:
        found = self.snapshot.all(INFERENCE_SETS)
        return {each.metadata.name for each in found if each.metadata.namespace == team}


def counts(states) -> dict[State, int]:
    found = Counter(states)
    return {state: found[state] for state in COUNTED_STATES}


@given(st.lists(STEPS, max_size=12))
def test_counts_are_those_of_the_objects_whatever_comes_and_goes(steps):
    replay = Counted()
    for step in steps:
        match step:
            case int():
                replay.advance(step)
            case tuple():
                replay._apply({"watch": dict([step])})
                replay.run_pass()
            case _:
                replay._change(step, now=replay.now)
                replay.run_pass()
