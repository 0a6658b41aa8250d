"""The problem of a pod, from its own status."""

import msgspec
import pytest

from reporter.kinds.core import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
)
from reporter.model.enums import TroubleKind
from reporter.resources.pods import find_pod_problem, find_pod_problems
from tests.support.builders import LONG_AGO, MINUTE, NOON, SECOND, a_pod


JUST_NOW = NOON - SECOND
EVER_UNREADY = {"ready": False, "started": NOON, "since": NOON + SECOND}
WAS_READY = {"ready": False, "started": LONG_AGO, "since": NOON}


def initial(*, ended: int | None = None, before: int | None = None) -> ContainerStatus:
    terminated = (
        None if ended is None else ContainerStateTerminated(reason="Error", exit_code=ended)
    )
    earlier = (
        None if before is None else ContainerStateTerminated(reason="Error", exit_code=before)
    )
    return ContainerStatus(
        name="init",
        state=ContainerState(
            running=ContainerStateRunning(started_at=NOON) if terminated is None else None,
            terminated=terminated,
        ),
        last_state=ContainerState(terminated=earlier),
    )


def test_nothing_ails_a_ready_pod():
    assert find_pod_problem(a_pod(restarts=12, last_exit=1)) is None


@pytest.mark.parametrize(
    "reason",
    [
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
    ],
)
def test_an_image_that_does_not_come_is_a_hard_error(reason):
    found = find_pod_problem(a_pod(waiting=reason, message="not found", **EVER_UNREADY))
    assert (found.kind, found.code, found.text) == (TroubleKind.FAILED, "ImagePull", reason)
    assert found.foreign_text == "not found"


@pytest.mark.parametrize(
    "reason", ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]
)
def test_a_container_that_cannot_be_made_is_a_hard_error(reason):
    found = find_pod_problem(a_pod(waiting=reason, message='secret "x" not found', **WAS_READY))
    assert (found.kind, found.code, found.text) == (
        TroubleKind.FAILED,
        "Config" if reason == "CreateContainerConfigError" else "StartError",
        reason,
    )


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing"])
def test_a_container_on_its_way_is_starting(reason):
    found = find_pod_problem(a_pod(waiting=reason, **EVER_UNREADY))
    assert (found.kind, found.code, found.text) == (TroubleKind.STARTING, "NotStarted", reason)


def test_a_crash_loop_names_exit_code_and_restarts():
    found = find_pod_problem(
        a_pod(waiting="CrashLoopBackOff", last_exit=1, restarts=4, **EVER_UNREADY)
    )
    assert found.text == "CrashLoopBackOff (exit code 1, 4 restarts)"
    assert (found.kind, found.code, found.is_crash) == (TroubleKind.FAILED, "Crash", True)


def test_one_restart_is_reported_in_the_singular():
    found = find_pod_problem(
        a_pod(waiting="CrashLoopBackOff", last_exit=2, restarts=1, **EVER_UNREADY)
    )
    assert found.text == "CrashLoopBackOff (exit code 2, 1 restart)"


def test_a_container_that_ran_out_of_memory_is_named_so():
    pod = a_pod(
        waiting="CrashLoopBackOff", last_exit=137, last="OOMKilled", restarts=3, **EVER_UNREADY
    )
    assert (
        find_pod_problem(pod).text
        == "CrashLoopBackOff after OOMKilled (exit code 137, 3 restarts)"
    )


CRASHES = {
    "first crash of one never Ready": (dict(exit_code=1, **EVER_UNREADY), TroubleKind.STARTING),
    "first crash of one that was Ready": (dict(exit_code=1, **WAS_READY), TroubleKind.LOST),
    "second crash": (dict(exit_code=1, restarts=1, **WAS_READY), TroubleKind.FAILED),
    "in back-off": (
        dict(waiting="CrashLoopBackOff", last_exit=1, restarts=1, **WAS_READY),
        TroubleKind.FAILED,
    ),
    "warming up after the first": (
        dict(running=NOON + SECOND, last_exit=1, restarts=1, **WAS_READY),
        TroubleKind.LOST,
    ),
    "warming up after the second": (
        dict(running=NOON + SECOND, last_exit=1, restarts=2, **WAS_READY),
        TroubleKind.FAILED,
    ),
}
ENDS = {
    "ended well, as a liveness probe makes it": (
        dict(running=NOON + SECOND, last_exit=0, last="Completed", restarts=2, **WAS_READY),
        ("Ended", TroubleKind.FAILED),
    ),
    "ended well just now": (
        dict(exit_code=0, ended="Completed", **WAS_READY),
        ("Ended", TroubleKind.LOST),
    ),
    "killed after its grace period": (
        dict(exit_code=137, restarts=1, **WAS_READY),
        ("Killed", TroubleKind.FAILED),
    ),
    "stopped when it was told to": (
        dict(waiting="CrashLoopBackOff", last_exit=143, restarts=3, **WAS_READY),
        ("Killed", TroubleKind.FAILED),
    ),
}


@pytest.mark.parametrize(("pod", "kind"), CRASHES.values(), ids=CRASHES.keys())
def test_crash_back_off_and_warm_up_are_one_code(pod, kind):
    found = find_pod_problem(a_pod(**pod))
    assert (found.code, found.is_crash, found.kind) == ("Crash", True, kind)


@pytest.mark.parametrize(("pod", "expected"), ENDS.values(), ids=ENDS.keys())
def test_an_end_that_a_probe_may_have_made_is_no_crash_and_settles_as_one(pod, expected):
    found = find_pod_problem(a_pod(**pod))
    assert (found.is_crash, (found.code, found.kind)) == (True, expected)


def test_a_probe_that_fails_long_after_a_crash_is_no_crash():
    pod = a_pod(running=LONG_AGO, last_exit=1, restarts=1, **WAS_READY)
    assert (find_pod_problem(pod).code, find_pod_problem(pod).kind) == (
        "NotReady",
        TroubleKind.LOST,
    )


def test_a_pod_that_was_ready_is_lost_and_one_that_never_was_is_starting():
    assert find_pod_problem(a_pod(**WAS_READY)).kind is TroubleKind.LOST
    assert find_pod_problem(a_pod(**EVER_UNREADY)).kind is TroubleKind.STARTING


def test_an_init_container_that_fails_is_a_crash():
    pod = a_pod(waiting="PodInitializing", init=(initial(ended=1),), **EVER_UNREADY)
    assert find_pod_problem(pod).code == "Crash"


@pytest.mark.parametrize(
    "status", [initial(ended=0), initial(ended=0, before=1), initial(before=0)]
)
def test_an_init_container_that_ends_well_is_none(status):
    pod = a_pod(waiting="PodInitializing", init=(status,), **EVER_UNREADY)
    assert (find_pod_problem(pod).code, find_pod_problem(pod).text) == (
        "NotStarted",
        "PodInitializing",
    )


def test_a_pod_without_a_node_is_unschedulable_with_the_reason():
    why = "0/3 nodes are available: 3 Insufficient cpu."
    pod = a_pod(
        ready=False,
        containers=False,
        phase="Pending",
        conditions=[("PodScheduled", "False", "Unschedulable", why)],
    )
    found = find_pod_problem(pod)
    assert (found.kind, found.code, found.foreign_text) == (
        TroubleKind.STARTING,
        "Unschedulable",
        why,
    )


def test_a_gated_pod_is_not_called_unschedulable():
    gated = [("PodScheduled", "False", "SchedulingGated", "waits for a quota")]
    found = find_pod_problem(a_pod(ready=False, containers=False, conditions=gated))
    assert (found.code, found.text) == ("NotStarted", "SchedulingGated")


def test_a_failed_pod_names_its_reason():
    found = find_pod_problem(
        a_pod(ready=False, containers=False, phase="Failed", reason="OutOfcpu", failure="no cpu")
    )
    assert (found.kind, found.code, found.text) == (
        TroubleKind.FAILED,
        "OutOfResource",
        "OutOfcpu",
    )
    assert found.foreign_text == "no cpu"


DISRUPTED = [("DisruptionTarget", "True", "EvictionByEvictionAPI")]


@pytest.mark.parametrize(
    "pod",
    [dict(**WAS_READY), dict(exit_code=137, **WAS_READY)],
    ids=["not Ready", "its container killed"],
)
def test_a_pod_that_is_chosen_to_go_is_starting(pod):
    assert find_pod_problem(a_pod(conditions=DISRUPTED, **pod)).kind is TroubleKind.STARTING


def test_a_hard_error_stays_one_though_the_pod_is_chosen_to_go():
    pod = a_pod(conditions=DISRUPTED, waiting="ImagePullBackOff", **WAS_READY)
    assert find_pod_problem(pod).kind is TroubleKind.FAILED


def test_a_pod_with_a_younger_replacement_is_starting():
    old = a_pod("router-6c9f-a", **WAS_READY)
    new = a_pod("router-6c9f-b", created_at=JUST_NOW, **EVER_UNREADY)
    assert [a.kind for a in find_pod_problems([old, new], desired=1)] == [
        TroubleKind.STARTING,
        TroubleKind.STARTING,
    ]
    assert [a.kind for a in find_pod_problems([old, new], desired=2)] == [
        TroubleKind.LOST,
        TroubleKind.STARTING,
    ]


def test_a_hard_error_is_one_though_there_is_a_replacement():
    old = a_pod("router-6c9f-a", waiting="ImagePullBackOff", **WAS_READY)
    new = a_pod("router-6c9f-b", created_at=JUST_NOW, **EVER_UNREADY)
    assert find_pod_problems([old, new], desired=1)[0].kind is TroubleKind.FAILED


def test_the_worst_comes_first_and_then_the_order_of_names():
    lost = a_pod("router-6c9f-a", **WAS_READY)
    crashed = [
        a_pod(f"router-6c9f-{x}", waiting="CrashLoopBackOff", last_exit=1, **WAS_READY)
        for x in "cb"
    ]
    found = find_pod_problems([lost, *crashed], desired=3)
    assert [a.pod for a in found] == ["router-6c9f-b", "router-6c9f-c", "router-6c9f-a"]


def test_the_words_of_kubelet_are_cleaned_and_kept_short():
    pod = a_pod(ready=False, containers=False, phase="Failed", reason="https://x/ ж\n" * 500)
    text = find_pod_problem(pod).text
    assert len(text.encode()) <= 100
    assert "://" not in text
    assert "\n" not in text


def test_the_clock_of_a_pod_problem_starts_when_the_pod_stopped_being_ready():
    assert find_pod_problem(a_pod(ready=False, since=NOON - MINUTE)).since == NOON - MINUTE


def test_an_end_is_reported_though_init_containers_are_null():
    found = find_pod_problem(a_pod(ready=False, exit_code=0, init=None))
    assert found.code == "Ended"


def test_a_disruption_that_was_called_off_makes_nothing_a_normal_change():
    pod = a_pod(**WAS_READY, conditions=[("DisruptionTarget", "False", "EvictionByEvictionAPI")])
    assert find_pod_problem(pod).kind is TroubleKind.LOST


def test_a_disruption_without_a_reason_is_reported_all_the_same():
    found = find_pod_problem(a_pod(**WAS_READY, conditions=[("DisruptionTarget", "True", "")]))
    assert "being evicted" in found.text


def test_a_container_that_is_ready_again_after_a_crash_is_not_the_crash():
    pod = a_pod(**EVER_UNREADY, running=NOON + MINUTE, last_exit=1, restarts=1)
    assert find_pod_problem(pod).code == "Crash"
    (status,) = pod.status.container_statuses or ()
    well = msgspec.structs.replace(status, ready=True)
    again = msgspec.structs.replace(pod.status, container_statuses=(well,))
    assert find_pod_problem(msgspec.structs.replace(pod, status=again)).code != "Crash"
