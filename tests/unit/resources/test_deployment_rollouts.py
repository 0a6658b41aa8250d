"""The trouble of a Deployment that changes: kinds of trouble, rollouts and refused pods."""

import pytest

from reporter.model.enums import TroubleKind
from reporter.resources.deployments import evaluate_deployment
from tests.support.builders import NOON, a_deployment, a_pod
from tests.support.deployments import (
    DONE,
    OVERDUE,
    PAUSED,
    REFUSED,
    ROLLING,
    WAS_READY,
    YOUNG,
    message_of,
)


KINDS = {
    "a rolling restart with nothing ready": (
        a_deployment(replicas=1, ready=0, conditions=[ROLLING]),
        [a_pod(**YOUNG)],
        TroubleKind.STARTING,
    ),
    "Recreate, its old pods deleted": (
        a_deployment(replicas=1, ready=0, total=0, updated=0, conditions=[ROLLING]),
        [],
        TroubleKind.STARTING,
    ),
    "a rollout whose old pod was Ready": (
        a_deployment(ready=1, conditions=[ROLLING]),
        [a_pod(**WAS_READY)],
        TroubleKind.STARTING,
    ),
    "a rollout whose new pod cannot start": (
        a_deployment(ready=1, conditions=[ROLLING]),
        [a_pod(waiting="ErrImagePull", **YOUNG)],
        TroubleKind.FAILED,
    ),
    "scaled up, its new pods not there yet": (
        a_deployment(replicas=3, ready=2, total=2, updated=2),
        [],
        TroubleKind.STARTING,
    ),
    "scaled up, its new pod young": (
        a_deployment(replicas=3, ready=2),
        [a_pod(**YOUNG)],
        TroubleKind.STARTING,
    ),
    "drained, its replacement young": (
        a_deployment(replicas=1, ready=0),
        [a_pod("body-based-router-6c9f-old", deleted=NOON, **WAS_READY), a_pod(**YOUNG)],
        TroubleKind.STARTING,
    ),
    "drained, its replacement without a place": (
        a_deployment(replicas=1, ready=0),
        [
            a_pod(
                containers=False,
                conditions=[("PodScheduled", "False", "Unschedulable")],
                **YOUNG,
            )
        ],
        TroubleKind.STARTING,
    ),
    "its pod chosen to go": (
        a_deployment(ready=1),
        [a_pod(conditions=[("DisruptionTarget", "True", "DeletionByTaintManager")], **WAS_READY)],
        TroubleKind.STARTING,
    ),
    "its pod not Ready any more": (a_deployment(ready=1), [a_pod(**WAS_READY)], TroubleKind.LOST),
    "its pods deleted and none replaced": (a_deployment(ready=1), [], TroubleKind.LOST),
    "leftovers of an eviction, one missing": (
        a_deployment(ready=1, total=1),
        [a_pod(phase="Failed", reason="Evicted", ready=False)],
        TroubleKind.STARTING,
    ),
    "a rollout that made no progress": (
        a_deployment(ready=1, conditions=[OVERDUE]),
        [a_pod(**YOUNG)],
        TroubleKind.FAILED,
    ),
    "paused, so its progress proves nothing": (
        a_deployment(ready=1, paused=True, conditions=[OVERDUE]),
        [a_pod(**YOUNG)],
        TroubleKind.STARTING,
    ),
    "paused and lost": (
        a_deployment(ready=1, paused=True, conditions=[PAUSED]),
        [a_pod(**WAS_READY)],
        TroubleKind.LOST,
    ),
    "its pods refused": (
        a_deployment(ready=1, total=1, conditions=[ROLLING, REFUSED]),
        [],
        TroubleKind.FAILED,
    ),
    "a pod that cannot be deleted, one young": (
        a_deployment(ready=1, conditions=[DONE, ("ReplicaFailure", "True", "FailedDelete")]),
        [a_pod(**YOUNG)],
        TroubleKind.STARTING,
    ),
}


@pytest.mark.parametrize(("deployment", "pods", "kind"), KINDS.values(), ids=KINDS.keys())
def test_the_kind_of_trouble_is_why_it_may_still_be_normal(deployment, pods, kind):
    found = evaluate_deployment(deployment, pods)
    assert found.kind is kind
    assert "Evicted" not in message_of(found)


def test_a_stuck_rollout_that_still_serves_is_a_warning_and_no_outage():
    found = evaluate_deployment(a_deployment(total=3, updated=1, conditions=[OVERDUE]), [])
    assert (found.cause.code, found.kind, found.is_out) == (
        "RolloutStuck",
        TroubleKind.FAILED,
        False,
    )
    assert message_of(found) == (
        "Deployment kaito-system/body-based-router has a rollout that made no progress"
        " (1/2 updated), the old version still serves."
    )


def test_a_new_version_whose_pods_are_refused_quotes_the_refusal():
    found = evaluate_deployment(a_deployment(updated=0, conditions=[ROLLING, REFUSED]), [])
    assert (found.cause.code, found.is_out) == ("FailedCreate", False)
    assert found.foreign_text == "exceeded quota: compute"
    assert "(0/2 updated), the old one still serves" in message_of(found)


def test_refused_pods_are_the_cause_of_what_is_missing():
    found = evaluate_deployment(a_deployment(ready=0, total=0, conditions=[DONE, REFUSED]), [])
    assert (found.cause.code, found.is_out) == ("Unavailable.FailedCreate", True)
    assert found.foreign_text == "exceeded quota: compute"


def test_a_rollout_reports_its_progress():
    found = evaluate_deployment(a_deployment(ready=1, updated=1, conditions=[ROLLING]), [])
    assert "is degraded: 1/2 replicas ready (1/2 updated)" in message_of(found)


def test_a_paused_one_is_reported_as_paused():
    assert message_of(evaluate_deployment(a_deployment(ready=1, paused=True), [])).endswith(
        "ready and paused."
    )


def test_a_new_version_of_which_all_pods_are_there_reports_no_counts():
    found = evaluate_deployment(a_deployment(conditions=[DONE, REFUSED]), [])
    assert "updated" not in message_of(found)
    assert "updated" in message_of(
        evaluate_deployment(a_deployment(updated=1, conditions=[DONE, REFUSED]), [])
    )
