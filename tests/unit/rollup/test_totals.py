"""The sums of a namespace, expected by hand."""

from msgspec.structs import replace

from reporter.model.states import State
from reporter.model.status_document import Replicas
from reporter.rollup.records import (
    InferenceSetFacts,
    InferenceSetRecord,
    ReplicaProgress,
    SubjectState,
    Totals,
)
from reporter.rollup.totals import count_sets
from tests.support.builders import NOON


def a_set(desired: int, updated: int | None, ready: int | None, **changes) -> InferenceSetRecord:
    replicas = Replicas(desired=desired, updated=updated, ready=ready)
    return InferenceSetRecord(
        subject_state=SubjectState(state=changes.get("state", State.CURRENT), since=NOON),
        facts=InferenceSetFacts(replicas=replicas),
        available=changes.get("available"),
    )


PHI, QWEN = a_set(3, 2, 1, available=True), a_set(40, 30, 20, state=State.FAILED, available=False)


def test_replicas_of_two_sets_are_added_each_for_itself():
    both = count_sets([PHI, QWEN])
    assert both.replicas == Replicas(desired=43, updated=32, ready=21)
    assert (both.available, both.maybe_available) == (1, 0)
    assert {state: n for state, n in both.by_state.items() if n} == {
        State.CURRENT: 1,
        State.FAILED: 1,
    }


def test_no_set_has_no_replicas_and_reports_that():
    assert count_sets([]) == Totals()
    assert count_sets([]).replicas == Replicas(desired=0, updated=0, ready=0)


def test_a_sum_is_not_reported_while_one_set_does_not_report_its_part():
    silent = a_set(5, None, 4)
    found = count_sets([PHI, QWEN, silent])
    assert found.replicas == Replicas(desired=48, updated=None, ready=25)
    unseen = a_set(5, 4, None)
    found = count_sets([PHI, unseen, QWEN])
    assert found.replicas == Replicas(desired=48, updated=36, ready=None)


def test_a_set_of_which_nothing_is_known_leaves_the_sums_open():
    unknown = InferenceSetRecord(subject_state=SubjectState(state=State.UNKNOWN, since=NOON))
    totals = count_sets([PHI, QWEN, unknown])
    assert totals.replicas is None
    assert (totals.available, totals.maybe_available) == (1, 1)


def test_what_is_being_deleted_is_not_awaited_and_other_kinds_report_no_replicas():
    ending = a_set(5, 5, 5, state=State.TERMINATING)
    of_another_kind = InferenceSetFacts(progress=ReplicaProgress(has_replicas=False))
    other = replace(PHI, facts=of_another_kind)
    totals = count_sets([ending, other])
    assert totals.maybe_available == 0
    assert totals.replicas == Replicas(desired=5, updated=5, ready=5)
