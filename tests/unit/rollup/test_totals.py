"""The sums of a namespace, expected by hand: those of a recount are made by the same function."""

from reporter.model.states import State
from reporter.model.status_document import Replicas
from reporter.rollup.records import SetRecord, Standing, Totals
from reporter.rollup.totals import add_record
from tests.support.builders import NOON


def a_set(desired: int, updated: int | None, ready: int | None, **changes) -> SetRecord:
    replicas = Replicas(desired=desired, updated=updated, ready=ready)
    return SetRecord(
        standing=Standing(state=changes.get("state", State.CURRENT), since=NOON),
        replicas=replicas,
        available=changes.get("available"),
    )


PHI, QWEN = a_set(3, 2, 1, available=True), a_set(40, 30, 20, state=State.FAILED, available=False)
BOTH = add_record(add_record(Totals(), PHI), QWEN)


def test_replicas_of_two_sets_are_added_each_for_itself():
    assert BOTH.replicas == Replicas(desired=43, updated=32, ready=21)
    assert (BOTH.available, BOTH.maybe_available) == (1, 0)
    assert {state: n for state, n in BOTH.by_state.items() if n} == {
        State.CURRENT: 1,
        State.FAILED: 1,
    }


def test_a_set_that_goes_takes_its_replicas_with_it():
    left = add_record(BOTH, PHI, -1)
    assert left.replicas == Replicas(desired=40, updated=30, ready=20)
    assert add_record(left, QWEN, -1) == Totals()
    assert add_record(left, None, -1) == left


def test_a_sum_is_not_reported_while_one_set_does_not_report_its_part():
    silent = a_set(5, None, 4)
    assert add_record(BOTH, silent).replicas == Replicas(desired=48, updated=None, ready=25)
    assert add_record(add_record(BOTH, silent), silent, -1).replicas == BOTH.replicas
    unseen = a_set(5, 4, None)
    assert add_record(BOTH, unseen).replicas == Replicas(desired=48, updated=36, ready=None)


def test_a_set_of_which_nothing_is_known_leaves_the_sums_open():
    unknown = SetRecord(standing=Standing(state=State.UNKNOWN, since=NOON))
    totals = add_record(BOTH, unknown)
    assert totals.replicas is None
    assert (totals.available, totals.maybe_available) == (1, 1)
