"""The pods that count: neither being deleted nor replaced."""

import pytest

from reporter.resources.pods import filter_active_pods
from tests.support.builders import NOON, a_pod


LEFT_BEHIND = {
    "Terminating": {"deleted": NOON},
    "done": {"phase": "Succeeded"},
    "of a Job": {"owner": "Job"},
    **{
        reason: {"phase": "Failed", "reason": reason, "ready": False}
        for reason in ("Evicted", "NodeLost", "Terminated", "NodeShutdown", "Preempting")
    },
}


@pytest.mark.parametrize("pod", LEFT_BEHIND.values(), ids=LEFT_BEHIND.keys())
def test_what_is_being_deleted_or_left_behind_does_not_count(pod):
    assert filter_active_pods([a_pod(**pod)]) == ()


def rejected(name, **changes):
    return a_pod(name, phase="Failed", reason="UnexpectedAdmissionError", ready=False, **changes)


def test_a_failed_pod_that_was_replaced_does_not_count():
    old, new = rejected("router-6c9f-a"), a_pod("router-6c9f-b", created_at=NOON)
    assert filter_active_pods([old, new]) == (new,)


def test_of_pods_that_fail_one_after_another_the_youngest_counts():
    old, new = rejected("router-6c9f-a"), rejected("router-6c9f-b", created_at=NOON)
    assert filter_active_pods([old, new]) == (new,)


def test_a_failed_pod_without_a_replacement_counts():
    lonely = rejected("router-6c9f-a")
    assert filter_active_pods([lonely]) == (lonely,)
