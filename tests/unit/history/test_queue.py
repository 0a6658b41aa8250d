"""The order of the writes of a plan."""

from reporter.history.existing import Create, Patch, PlanMemory
from reporter.history.plan import Plan
from reporter.history.store_plan import writes_of
from tests.support.health_events import a_health_event


def a_plan(*, creates=(), patches=(), deletes=()) -> Plan:
    return Plan(
        tuple(Create(name, "", None) for name in creates),
        tuple(Patch(a_health_event(name), {}) for name in patches),
        tuple(map(a_health_event, deletes)),
        (),
        PlanMemory(),
        None,
    )


def test_new_episodes_come_first_and_deletions_last():
    plan = a_plan(creates=("z", "y"), patches=("x",), deletes=("a",))
    assert list(writes_of(plan)) == ["z", "y", "x", "a"]
