"""The restarts that a store remembers of model pods."""

from datetime import datetime

from reporter.kinds.core import PODS
from reporter.snapshot.pod_runs import MAX_RESTARTS, ContainerRestarts
from tests.support.builders import LONG_AGO, MINUTE, NOON, a_pod
from tests.support.model_builders import TEAM, WORKSPACE, a_model_pod, a_model_store


NAME = (TEAM, f"{WORKSPACE}-0")


def a_run(restarts: int, at: datetime = NOON, **changes):
    return a_model_pod(restarts=restarts, running=at, **changes)


def remembered(store) -> ContainerRestarts | None:
    found = store.snapshot().pod_restarts.get(NAME)
    return found.by_container[WORKSPACE] if found is not None else None


def after(*pods) -> ContainerRestarts | None:
    store = a_model_store()
    for pod in pods:
        store.upsert(PODS, pod)
    return remembered(store)


def test_nothing_is_remembered_of_a_pod_that_never_restarted_or_is_no_model_pod():
    assert after(a_run(0)) is None
    store = a_model_store(a_pod(restarts=5, last_exit=1))
    assert not len(store.snapshot().pod_restarts)


def test_each_restart_after_a_run_that_served_is_remembered_with_its_time():
    times = [NOON + minute * MINUTE for minute in range(3)]
    found = after(a_run(0), *(a_run(number, at) for number, at in enumerate(times, start=1)))
    assert found == ContainerRestarts(3, served=True, times=tuple(times))


def test_restarts_after_runs_that_never_served_are_not_remembered():
    found = after(
        a_run(0),
        a_run(1, NOON, ready=False),
        a_run(2, NOON + MINUTE, ready=False),
        a_run(3, NOON + 2 * MINUTE),
    )
    assert found == ContainerRestarts(3, served=True, times=(NOON,))


def test_a_run_that_served_before_its_pod_was_seen_not_ready_has_served():
    lost = a_run(0, LONG_AGO, ready=False, since=NOON)
    assert after(lost, a_run(1)) == ContainerRestarts(1, served=True, times=(NOON,))


def test_a_run_that_is_ready_for_a_while_has_served_whatever_it_is_at_its_end():
    found = after(
        a_run(0, ready=False, since=LONG_AGO),
        a_run(1, ready=False),
        a_run(1),
        a_run(1, ready=False),
        a_run(2, NOON + MINUTE),
    )
    assert found == ContainerRestarts(2, served=True, times=(NOON + MINUTE,))


def test_at_first_sight_the_last_two_restarts_are_known_from_the_status():
    found = after(a_run(7, NOON, last_exit=1, last_running=NOON - MINUTE))
    assert found == ContainerRestarts(7, served=True, times=(NOON - MINUTE, NOON), unseen=5)


def test_the_newest_run_of_a_container_that_waits_is_its_last_state():
    waiting = a_model_pod(
        ready=False, waiting="CrashLoopBackOff", restarts=3, last_exit=1, last_running=NOON
    )
    assert after(waiting) == ContainerRestarts(3, served=False, times=(NOON,), unseen=2)


def test_a_time_of_1970_is_no_time():
    found = after(a_run(1, datetime.fromisoformat("1970-01-01T00:00:00Z")))
    assert found == ContainerRestarts(1, served=True, times=(), unseen=1)


def test_of_several_restarts_at_once_the_first_ended_the_run_that_served():
    first = NOON - 2 * MINUTE
    found = after(a_run(0), a_run(2, NOON, last_exit=1, last_running=first))
    assert found is not None
    assert found.times == (first,)
    assert after(a_run(0), a_run(9, NOON, last_exit=1, last_running=first)).times == (first,)


def test_a_restart_counts_once_its_time_is_known():
    unstarted = a_model_pod(ready=False, waiting="ContainerCreating", restarts=1)
    assert after(a_run(0), unstarted) == ContainerRestarts(0, served=True)
    found = after(a_run(0), unstarted, a_run(1, NOON))
    assert found == ContainerRestarts(1, served=True, times=(NOON,))


def test_a_count_that_falls_begins_anew():
    found = after(a_run(0), a_run(1, NOON), a_run(2, NOON + MINUTE), a_run(1, NOON + 2 * MINUTE))
    assert found == ContainerRestarts(1, served=True, times=(NOON + 2 * MINUTE,))


def test_no_more_than_the_last_restarts_are_remembered():
    times = [NOON + minute * MINUTE for minute in range(MAX_RESTARTS + 5)]
    found = after(a_run(0), *(a_run(number, at) for number, at in enumerate(times, start=1)))
    assert found is not None
    assert found.times == tuple(times[-MAX_RESTARTS:])


def test_restarts_are_forgotten_with_the_pod_and_its_successor_begins_anew():
    store = a_model_store(a_run(0), a_run(1))
    assert remembered(store) is not None
    store.upsert(PODS, a_run(0, uid="uid-successor"))
    assert remembered(store) is None
    store.upsert(PODS, a_run(1, uid="uid-successor"))
    assert remembered(store) is not None
    store.delete(PODS, *NAME)
    assert remembered(store) is None
    store.upsert(PODS, a_run(1, uid="uid-third", last_exit=1))
    assert remembered(store) == ContainerRestarts(1, served=True, times=(NOON,))


def test_a_snapshot_keeps_what_it_was_taken_of():
    store = a_model_store(a_run(0), a_run(1))
    before = store.snapshot()
    store.upsert(PODS, a_run(2, NOON + MINUTE))
    assert before.pod_restarts.get(NAME).by_container[WORKSPACE].count == 1
    assert remembered(store).count == 2
