"""Findings of a predecessor that are continued, by value."""

import pytest
from msgspec.structs import replace

from reporter.evaluation.clocks import NOTHING_TRACKED, CauseClock, Delays, FindingState
from reporter.evaluation.remembered import (
    NOTHING_REMEMBERED,
    Remembered,
    RememberedFinding,
    continue_findings,
    count_announced,
)
from reporter.evaluation.suppression import NO_SUPPRESSIONS
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from reporter.snapshot.subjects import Subjects
from tests.support.builders import HOUR, MINUTE, NOON, a_key, a_trouble, an_entry


BBR = a_key("clusterBBR")
ENTRY = an_entry("clusterBBR")
ABOUT = InvolvedObject("v1", "Namespace", "kube-system")


@pytest.mark.parametrize(
    ("seen_here", "remembered"), [(NOON - HOUR, NOON - MINUTE), (NOON - MINUTE, NOON - HOUR)]
)
def test_a_key_is_unknown_since_the_earlier_of_two_times(seen_here, remembered):
    state = FindingState((), ABOUT, NOON, why_unknown="forbidden", unknown_since=seen_here)
    finding = RememberedFinding((a_trouble(),), ABOUT, NOON - HOUR, unknown_since=remembered)
    tracked = continue_findings(
        replace(NOTHING_TRACKED, finding_states={BBR: state}),
        Remembered({BBR: finding}),
        now=NOON,
        entry_of=lambda _: ENTRY,
        delays=Delays(),
    )
    assert tracked.finding_states[BBR].unknown_since == NOON - HOUR


MODEL = a_key("inferencesetRouteNotReady", Subject(Layer.MODELDEPLOYMENT, "team-m", "qwen"))
GROUP = a_key("inferencesetRouteNotReady", MODEL.subject.all_of_kind)


@pytest.mark.parametrize(
    ("unknown", "continued", "left"),
    [
        ({Subject(Layer.MODELDEPLOYMENT): "forbidden"}, set(), {GROUP}),
        ({}, {GROUP}, set()),
    ],
    ids=["unseen", "seen"],
)
def test_a_group_waits_until_its_inference_sets_can_be_listed(unknown, continued, left):
    waiting = Remembered(groups=frozenset({GROUP}))
    found = NOTHING_REMEMBERED.with_groups_of(waiting, Subjects(unknown=unknown))
    assert [set(each.groups) for each in found] == [continued, left]


@pytest.mark.parametrize("kind", TroubleKind)
def test_what_is_starting_may_be_no_member_of_an_announced_group(kind):
    state = FindingState((CauseClock(a_trouble(kind=kind)),), ABOUT, NOON)
    tracked = count_announced(
        replace(NOTHING_TRACKED, finding_states={MODEL: state}),
        Remembered(groups=frozenset({GROUP})),
        NO_SUPPRESSIONS,
    )
    (clock,) = tracked.finding_states[MODEL].clocks
    assert clock.past_hold is (kind is not TroubleKind.STARTING)
