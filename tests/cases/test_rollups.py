"""
The roll-up over every case: what a pass touches is enough, and its laws hold at each pass.
"""

from dataclasses import replace

import pytest

from reporter.model.enums import Layer
from reporter.model.rollup.states import State
from reporter.model.subjects import Subject
from reporter.stages.rollup.fold import fold
from reporter.stages.rollup.records import RollUp
from reporter.stages.rollup.subjects.totals import recount
from reporter.stages.snapshot.subjects import expand_placeholders
from reporter.stories.replay.orders import ORDERS, reordered
from reporter.stories.replay.story_replay import StoryReplay
from tests.cases.test_cases import STORIES
from tests.support.rollups import distrusted


class CheckedReplay(StoryReplay):
    """
    A replay that folds each pass twice: all subjects, and those that changed alone.
    """

    incremental = RollUp()

    def run_pass(self):
        self.rollup = distrusted(self.rollup)
        super().run_pass()
        given = self.given
        new = self.evaluation.subjects - self.incremental.evaluation.subjects
        dirty = expand_placeholders(given.dirty, self.evaluation.subjects)
        self.incremental = fold(
            self.incremental, replace(given, looked_at=dirty | new), self.rollup_rules
        )
        assert shown(self.incremental) == shown(self.rollup)
        check_laws(self.rollup, self)
        return self

    def rollup_input(self):
        self.given = super().rollup_input()
        return self.given

    def restart(self, **changes):
        self.incremental = RollUp()
        return super().restart(**changes)


def shown(rollup: RollUp):
    """
    Return everything but the revisions, which depend on what was folded when.
    """
    namespaces = {
        name: (
            each.standing,
            each.harness,
            each.totals,
            each.groups,
            each.package,
            {
                name: (
                    record.standing,
                    record.available,
                    record.not_judged,
                    record.facts.replicas,
                    record.facts.observed_generation,
                )
                for name, record in each.sets.items()
            },
        )
        for name, each in rollup.namespaces.items()
    }
    counts = rollup.set_counts, rollup.namespace_counts
    return rollup.cluster, namespaces, counts, rollup.deadlines, rollup.next_deadline


def check_laws(rollup: RollUp, replay: StoryReplay) -> None:
    evaluation = rollup.evaluation
    entries = replay.catalogue.entries
    not_clear = {
        (key.subject, key.reason)
        for key in (*evaluation.gate.finding_states, *evaluation.gate.unknown_states)
        if not entries[key.reason].orthogonal
    }
    for name, namespace in rollup.namespaces.items():
        assert namespace.totals == recount(namespace.sets.values())
        standings = [namespace.standing, namespace.harness]
        standings += [each.standing for each in namespace.sets.values()]
        for standing in standings:
            check_standing(standing, rollup)
        for set_name, each in namespace.sets.items():
            current = each.standing.state is State.CURRENT
            unknown = Layer.MODELDEPLOYMENT in evaluation.known_subjects.unknown_layers
            subject = Subject(Layer.MODELDEPLOYMENT, name, set_name)
            reasons = {reason for known, reason in not_clear if known == subject}
            assert set(each.not_judged) <= reasons
            trouble = bool(reasons - set(each.not_judged))
            assert not (current and (unknown or trouble or each.facts.is_stale))
            assert not (each.standing.state is State.UNKNOWN and each.available is not None)
    states = [each.standing.state for each in rollup.namespaces.values()]
    assert {s: n for s, n in rollup.namespace_counts.items() if n} == {
        state: states.count(state) for state in states
    }
    sets = [e.standing.state for n in rollup.namespaces.values() for e in n.sets.values()]
    assert {s: n for s, n in rollup.set_counts.items() if n} == {s: sets.count(s) for s in sets}


def check_standing(standing, rollup: RollUp) -> None:
    blocker = standing.blocker
    assert (blocker is None) == (standing.state in {State.CURRENT, State.TERMINATING})
    if blocker is not None and blocker.key is not None:
        assert blocker.key not in rollup.evaluation.suppressions.suppressed_by
        assert blocker.reason not in blocker.via


@pytest.mark.parametrize("name", STORIES)
def test_what_a_pass_touches_is_enough_and_the_laws_hold(name):
    assert CheckedReplay(reordered(STORIES[name], ORDERS[0])).run().rollup.cluster is not None
