"""Writes of the store that start now, and those that wait."""

from datetime import timedelta

from reporter.history.plan import Plan
from reporter.history.planner import StoreQueue, name_of, writes_of
from reporter.history.writes import Create, Patch, PlanMemory
from reporter.kube.errors import Throttled
from tests.support.builders import NOON
from tests.support.health_events import a_health_event


SECOND = timedelta(seconds=1)


def a_plan(*, creates=(), patches=(), deletes=()) -> Plan:
    return Plan(
        tuple(Create(name, "", None) for name in creates),
        tuple(Patch(a_health_event(name), {}) for name in patches),
        tuple(map(a_health_event, deletes)),
        (),
        PlanMemory(),
        None,
    )


def a_queue() -> StoreQueue:
    return StoreQueue(now=NOON, jitter=lambda: 0.0)


def take(queue: StoreQueue, plan: Plan, *, at=NOON) -> list[str]:
    writes, _ = queue.take(plan, now=at)
    return [name_of(each) for each in writes]


def test_new_episodes_come_first_and_deletions_last():
    plan = a_plan(creates=("z", "y"), patches=("x",), deletes=("a",))
    assert list(writes_of(plan)) == ["z", "y", "x", "a"]
    assert take(a_queue(), plan) == ["z", "y", "x", "a"]


def test_four_are_in_flight_at_a_time():
    queue, plan = a_queue(), a_plan(creates=list("abcdef"))
    assert take(queue, plan) == ["a", "b", "c", "d"]
    assert take(queue, plan) == []
    queue.finished("b")
    assert take(queue, plan) == ["b"], "it is still in the plan"


def test_twenty_are_written_at_once_and_then_five_a_second():
    queue, names = a_queue(), [f"{number:02}" for number in range(40)]
    plan, written = a_plan(creates=names), []

    def write(at) -> None:
        while taken := take(queue, a_plan(creates=[n for n in names if n not in written]), at=at):
            written.extend(taken)
            for name in taken:
                queue.finished(name)

    write(NOON)
    assert written == names[:20]
    write(NOON + SECOND)
    assert written == names[:25]
    assert queue.take(plan, now=NOON + SECOND)[1] == NOON + 1.2 * SECOND


def test_write_that_failed_waits_alone():
    queue, plan = a_queue(), a_plan(creates=("a", "b"))
    assert take(queue, plan) == ["a", "b"]
    asked = Throttled("create", status=429, retry_after=30 * SECOND)
    for name in "ab":
        queue.finished(name)
    queue.write_failed("a", asked, now=NOON)
    queue.write_failed("b", None, now=NOON)
    assert take(queue, plan, at=NOON + SECOND) == ["b"]
    assert take(queue, plan, at=NOON + 30 * SECOND) == ["a"]


def test_back_off_is_forgotten_with_the_write():
    queue = a_queue()
    queue.write_failed("a", None, now=NOON)
    assert take(queue, a_plan(creates=("b",))) == ["b"]
    assert take(queue, a_plan(creates=("a",))) == ["a"]
