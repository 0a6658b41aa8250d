"""The trouble of a Deployment, from its spec, its status and its pods."""

import pytest

from reporter.model.enums import TroubleKind
from reporter.resources.check_result import Inconclusive
from reporter.resources.deployments import (
    evaluate_deployment,
    missing_deployment_trouble,
)
from tests.support.builders import LONG_AGO, NOON, a_deployment, a_pod
from tests.support.deployments import DONE, OVERDUE, PAUSED, ROLLING, WAS_READY, YOUNG, message_of


FINE = {
    "all ready": a_deployment(),
    "one of one": a_deployment(replicas=1),
    "a rollout whose surge serves all along": a_deployment(
        ready=3, total=3, updated=1, conditions=[ROLLING]
    ),
    "more ready than wished for": a_deployment(replicas=1, ready=2, total=2),
    "paused, and all ready": a_deployment(paused=True, conditions=[PAUSED]),
    "paused after its rollout got stuck": a_deployment(
        paused=True, updated=1, conditions=[OVERDUE]
    ),
    "a pod of an old version cannot be deleted": a_deployment(
        conditions=[DONE, ("ReplicaFailure", "True", "FailedDelete", "webhook")]
    ),
    "a failure that is over": a_deployment(
        conditions=[DONE, ("ReplicaFailure", "False", "FailedCreate")]
    ),
    "being deleted": a_deployment(ready=0, deleted=NOON),
    "being deleted, and scaled to zero": a_deployment(replicas=0, deleted=NOON),
}


@pytest.mark.parametrize("deployment", FINE.values(), ids=FINE.keys())
def test_nothing_is_wrong_with_one_that_does_its_work(deployment):
    assert evaluate_deployment(deployment, [a_pod(**WAS_READY)]) is None


@pytest.mark.parametrize(
    "deployment",
    [
        a_deployment(replicas=0),
        a_deployment(replicas=0, paused=True, conditions=[PAUSED]),
        a_deployment(replicas=0, generation=8, observed=7, total=2, ready=2),
    ],
    ids=["as its status reports", "paused as well", "before its status reports it"],
)
def test_one_scaled_to_zero_is_out_as_declared(deployment):
    found = evaluate_deployment(deployment, [])
    assert (found.cause.code, found.kind, found.is_out) == (
        "ScaledToZero",
        TroubleKind.DECLARED,
        True,
    )
    assert (
        message_of(found)
        == "Deployment kaito-system/body-based-router is scaled to zero replicas."
    )


def test_a_status_of_an_older_spec_is_inconclusive():
    stale = a_deployment(generation=8, observed=7, ready=0)
    assert evaluate_deployment(stale, []) == Inconclusive(
        "status of Deployment kaito-system/body-based-router is older than its spec"
    )


def test_a_degraded_one_is_reported_with_its_counts_and_the_pod():
    crashed = a_pod(waiting="CrashLoopBackOff", last_exit=1, restarts=4, **WAS_READY)
    found = evaluate_deployment(
        a_deployment(ready=1), [crashed, a_pod("body-based-router-6c9f-x1")]
    )
    assert message_of(found) == (
        "Deployment kaito-system/body-based-router is degraded: 1/2 replicas ready;"
        " pod body-based-router-6c9f-x2 CrashLoopBackOff (exit code 1, 4 restarts)."
    )
    assert (found.cause.code, found.kind, found.is_out) == (
        "Degraded.Crash",
        TroubleKind.FAILED,
        False,
    )
    assert found.is_crash


def test_one_with_nothing_ready_is_out_and_has_a_code_of_its_own():
    found = evaluate_deployment(
        a_deployment(ready=0), [a_pod(waiting="ErrImagePull", **WAS_READY)]
    )
    assert (found.cause.code, found.is_out) == ("Unavailable.ImagePull", True)


def test_a_deployment_that_is_ready_but_not_for_long_enough_is_not_out():
    assert not evaluate_deployment(a_deployment(ready=1, available=0), []).is_out


def test_more_pods_than_the_worst_are_counted():
    pods = [a_pod(f"body-based-router-6c9f-{x}", **WAS_READY) for x in "abc"]
    found = evaluate_deployment(a_deployment(replicas=3, ready=0), pods)
    assert message_of(found).endswith(
        "; pod body-based-router-6c9f-a not Ready, 2 more pods not ready."
    )
    assert message_of(evaluate_deployment(a_deployment(ready=0), pods[:2])).endswith(
        ", 1 more pod not ready."
    )


def test_leftovers_are_never_the_cause():
    left = [
        a_pod("body-based-router-6c9f-a", phase="Failed", reason="Evicted", ready=False),
        a_pod("body-based-router-6c9f-b", owner="Job", phase="Failed", ready=False),
        a_pod("body-based-router-6c9f-c", deleted=NOON, **WAS_READY),
    ]
    found = evaluate_deployment(a_deployment(ready=1), left)
    assert (
        message_of(found)
        == "Deployment kaito-system/body-based-router is degraded: 1/2 replicas ready."
    )


def test_the_schedulers_message_explains_an_unschedulable_pod():
    why = "0/3 nodes are available: 3 Insufficient memory."
    unplaced = a_pod(
        containers=False, conditions=[("PodScheduled", "False", "Unschedulable", why)], **YOUNG
    )
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), [unplaced])
    assert (found.cause.code, found.foreign_text) == ("Unavailable.Unschedulable", why)


def test_the_clock_of_a_deployment_starts_when_it_stopped_being_available():
    unavailable = ("Available", "False", "MinimumReplicasUnavailable", "", NOON)
    assert (
        evaluate_deployment(a_deployment(ready=0, conditions=[DONE, unavailable]), []).since
        == NOON
    )


def test_only_a_deployment_that_was_seen_leaves_others_without_input():
    never, deleted = (
        missing_deployment_trouble("keda", "keda-operator", was_deleted=was_deleted)
        for was_deleted in (False, True)
    )
    assert (never.cause.code, never.kind, never.is_out) == (
        "NotFound",
        TroubleKind.DECLARED,
        False,
    )
    assert (deleted.cause.code, deleted.kind, deleted.is_out) == (
        "Deleted",
        TroubleKind.LOST,
        True,
    )
    assert message_of(never) == "Deployment keda/keda-operator does not exist."
    assert message_of(deleted) == "Deployment keda/keda-operator was deleted."


def test_the_age_of_a_deployment_is_known_for_the_grace():
    assert (
        evaluate_deployment(a_deployment(replicas=0, created_at=LONG_AGO), []).object_created_at
        == LONG_AGO
    )
    assert (
        missing_deployment_trouble("keda", "keda-operator", was_deleted=False).object_created_at
        is None
    )


def test_one_without_a_progress_condition_is_evaluated_by_its_counts():
    found = evaluate_deployment(a_deployment(ready=0, conditions=[]), [])
    assert found.is_out
    assert found.kind is TroubleKind.LOST
