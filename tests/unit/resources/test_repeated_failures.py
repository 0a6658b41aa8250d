"""Pods that fail again and again, although each of them is being replaced."""

from itertools import pairwise

import msgspec
import pytest

from reporter.kinds.core import PODS
from reporter.model.enums import TroubleKind
from reporter.resources.deployments import evaluate_deployment
from reporter.resources.restarts import count_failures
from tests.support.builders import HOUR, MINUTE, NOON, SECOND, a_deployment, a_pod
from tests.support.model_builders import (
    NODE,
    TEAM,
    a_model,
    a_model_pod,
    a_model_store,
    delete_from_store,
    lost,
    never_ready,
)
from tests.support.model_pods import REASON
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


EVICTED = {"phase": "Failed", "reason": "Evicted", "failure": "The node had condition"}
DISRUPTED = [("DisruptionTarget", "True", "TerminationByKubelet")]
PENDING = {"phase": "Pending", "waiting": "ContainerCreating"}
BOUND = {"phase": "Pending", "containers": False}


def successor(number: int, **changes):
    """Build the pod of the same name that a StatefulSet creates as the next."""
    pod = a_model_pod(**{**never_ready(NOON + number * MINUTE), **changes})
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, uid=f"uid-{number}")
    )


def after(*pods):
    """Return the store after these pods, each of which takes the place of the one before."""
    store = a_model_store(*a_model(pods[0]))
    for before, pod in pairwise(pods):
        if pod.metadata.uid != before.metadata.uid:
            delete_from_store(store, before)
        store.upsert(PODS, pod)
    return store


REFUSED_AT_START = {
    "containers": False,
    "phase": "Failed",
    "reason": "UnexpectedAdmissionError",  # the device plugin has not registered yet
}
REFUSED = [successor(number, containers=False, **EVICTED) for number in range(1, 4)]
FIRST = successor(0, **{**lost(NOON), **EVICTED, "conditions": DISRUPTED})


def test_the_first_eviction_is_a_replacement_on_its_way():
    verdict = verdict_of(REASON, store=after(successor(0, ready=True), FIRST))
    assert only_trouble(verdict).kind is TroubleKind.STARTING
    assert "the old one is being replaced (Evicted)" in rendered_message(verdict)
    started = verdict_of(REASON, store=after(FIRST, successor(1, **PENDING)))
    assert only_trouble(started).kind is TroubleKind.STARTING


@pytest.mark.parametrize("present", [[], [successor(4, **BOUND)]], ids=["failed", "pending"])
def test_successors_that_are_refused_are_one_trouble(present):
    verdict = verdict_of(REASON, store=after(FIRST, *REFUSED, *present))
    found = only_trouble(verdict)
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Evicted")
    assert rendered_message(verdict) == (
        f"model pod qwen-7rk2p-0 is not ready: Evicted 4 times, last on node {NODE}:"
        " The node had condition."
    )


@pytest.mark.parametrize("state", [PENDING, {}], ids=["creates its containers", "loads"])
def test_a_pod_that_the_kubelet_has_taken_after_it_refused_others_is_a_start(state):
    refused = [successor(n, **REFUSED_AT_START) for n in (1, 2)]
    verdict = verdict_of(REASON, store=after(*refused, successor(3, **state)))
    assert only_trouble(verdict).kind is TroubleKind.STARTING


def test_pods_that_are_evicted_while_they_load_are_one_trouble():
    evicted = [successor(number, **EVICTED) for number in (1, 2)]
    verdict = verdict_of(REASON, store=after(*evicted, successor(3)))
    assert only_trouble(verdict).cause.code == "Evicted"


def test_repeated_failures_are_trouble_also_while_no_pod_exists():
    store = after(FIRST, *REFUSED)
    delete_from_store(store, REFUSED[-1])
    assert only_trouble(verdict_of(REASON, store=store)).cause.code == "Evicted"


@pytest.mark.parametrize(
    ("present", "code"),
    [
        (successor(4, node="another", **PENDING), "NotStarted"),
        (
            successor(
                4,
                node="",
                containers=False,
                conditions=[("PodScheduled", "False", "Unschedulable", "no node")],
            ),
            "Unschedulable",
        ),
        (successor(4, waiting="ImagePullBackOff"), "ImagePull"),
    ],
    ids=["another node", "no node yet", "an error of its own"],
)
def test_what_the_present_pod_shows_counts_before_it(present, code):
    verdict = verdict_of(REASON, store=after(FIRST, *REFUSED, present))
    assert only_trouble(verdict).cause.code == code


def test_a_pod_that_was_ready_since_begins_anew():
    again = successor(5, **EVICTED)
    store = after(FIRST, *REFUSED, successor(4, ready=True), again)
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


def test_a_pod_that_somebody_deleted_begins_anew():
    store = after(FIRST, REFUSED[0], successor(2))
    delete_from_store(store, successor(2))
    store.upsert(PODS, REFUSED[2])
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("OutOfcpu", "OutOfResource"),
        ("OutOfnvidia.com/gpu", "OutOfResource"),
        ("UnexpectedAdmissionError", "UnexpectedAdmissionError"),
        ("NodeAffinity", "NodeAffinity"),
        ("TopologyAffinityError", "TopologyAffinityError"),
        ("Preempting", "Preempting"),
        ("NodeShutdown", "NodeShutdown"),
        ("Terminated", "Terminated"),
        ("SomethingNew", "Failed"),
    ],
)
def test_each_reason_of_the_kubelet_counts(reason, code):
    refused = [
        successor(number, containers=False, phase="Failed", reason=reason) for number in (1, 2)
    ]
    verdict = verdict_of(REASON, store=after(*refused, successor(3, **BOUND)))
    assert only_trouble(verdict).cause.code == code
    assert f"{reason} 2 times, last on node {NODE}" in rendered_message(verdict)


# ---------------------------------------------------------------- of a Deployment


def of_deployment(number: int, **changes):
    return a_pod(
        f"body-based-router-6c9f-x{number}",
        **{**never_ready(NOON + number * MINUTE), **changes},
    )


WAS_READY = {"started": NOON, "created_at": NOON, "since": NOON + MINUTE, "ready": False}
LEFT_BEHIND = [of_deployment(n, containers=False, **EVICTED) for n in (2, 3)]


def test_pods_that_a_replica_set_leaves_behind_are_counted():
    first = of_deployment(1, **{**WAS_READY, **EVICTED})
    pods = [first, *LEFT_BEHIND, of_deployment(4, **BOUND)]
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), pods)
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Unavailable.Evicted")
    assert found.message_fields["pods"] == (
        "; pod body-based-router-6c9f-x3 Evicted 3 times, last on node node-1"
    )


def test_pods_left_behind_before_one_that_was_ready_are_not_counted():
    later = of_deployment(
        5, **{**WAS_READY, **EVICTED, "created_at": NOON + 5 * MINUTE, "since": NOON + 9 * MINUTE}
    )
    pods = [*LEFT_BEHIND, later, of_deployment(6, **PENDING)]
    assert count_failures(pods) is None
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), pods)
    assert found.kind is TroubleKind.STARTING


def test_a_pod_that_the_kubelet_has_taken_counts_before_those_that_it_refused():
    first = of_deployment(1, **{**WAS_READY, **EVICTED})
    pods = [first, *LEFT_BEHIND, of_deployment(4, **PENDING)]
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), pods)
    assert found.kind is TroubleKind.STARTING


def test_pods_left_behind_long_before_the_present_one_are_not_counted():
    left_behind = [
        of_deployment(1, **{**WAS_READY, **EVICTED}),
        of_deployment(2, conditions=DISRUPTED, **EVICTED),
    ]
    restarted = of_deployment(24 * 60, **PENDING)
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), [*left_behind, restarted])
    assert found.kind is TroubleKind.STARTING, "a pod that is gone served in between"
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), left_behind)
    assert found.cause.code == "Unavailable.Evicted"


@pytest.mark.parametrize("step", [1, -1])
def test_of_pods_created_in_one_second_the_same_one_is_named(step):
    moment = {"created_at": NOON + MINUTE, "containers": False}
    pods = [of_deployment(number, **{**EVICTED, **moment}) for number in (2, 3)][::step]
    found = evaluate_deployment(a_deployment(replicas=1, ready=0), pods)
    assert found.message_fields["pods"].startswith("; pod body-based-router-6c9f-x3 Evicted 2")


def test_another_replica_on_another_node_is_no_successor():
    serving = a_pod("body-based-router-6c9f-x0")
    elsewhere = msgspec.structs.replace(
        serving, spec=msgspec.structs.replace(serving.spec, node_name="node-2")
    )
    found = evaluate_deployment(a_deployment(replicas=2, ready=1), [elsewhere, *LEFT_BEHIND])
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Degraded.Evicted")


def test_nothing_is_remembered_of_other_namespaces_and_controllers():
    store = a_model_store(of_deployment(1, **EVICTED), *a_model())
    assert store.snapshot().pod_failures.get((TEAM, "qwen-7rk2p-0")) is None
    assert len(store.snapshot().pod_failures) == 0


FILLED = {
    "phase": "Failed",
    "reason": "Evicted",
    "failure": 'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". ',
}


def filled(number: int, at: int):
    """Build the pod that was Ready until a minute of the story, in which it had filled its storage."""
    name, when = f"router-6c9f-x{number}", NOON + at * MINUTE
    return a_pod(name, **{**lost(when), **FILLED, "created_at": when - MINUTE})


def test_a_pod_that_fills_its_storage_again_is_one_trouble_though_it_was_ready_in_between():
    present = a_pod("router-6c9f-x9", **never_ready(NOON + 3 * MINUTE), **PENDING)
    pods = [filled(1, at=1), filled(2, at=2), filled(3, at=3), present]
    found = evaluate_deployment(a_deployment(ready=0), pods)
    assert (found.kind, found.is_crash) == (TroubleKind.FAILED, True)
    assert found.cause.code == "Unavailable.StorageLimit"
    assert "Evicted 3 times" in found.message_fields["pods"]


def test_a_storage_that_was_filled_long_before_is_not_counted():
    present = a_pod("router-6c9f-x9", **never_ready(NOON + 30 * MINUTE), **PENDING)
    found = evaluate_deployment(
        a_deployment(ready=0), [filled(1, at=1), filled(2, at=30), present]
    )
    assert found.cause.code != "Unavailable.StorageLimit"


def test_a_pod_that_was_ready_after_the_last_eviction_is_judged_by_itself():
    present = a_pod(
        "router-6c9f-x9", **{**lost(NOON + 9 * MINUTE), "created_at": NOON + 2 * MINUTE}
    )
    pods = [filled(1, at=1), filled(2, at=2), present]
    assert evaluate_deployment(a_deployment(ready=0), pods).cause.code == "Unavailable.NotReady"


def test_evictions_of_one_replica_are_over_once_a_pod_is_ready_in_its_place():
    another = a_pod("router-6c9f-x0", **lost(NOON + 24 * HOUR))
    pods = [filled(1, at=1), filled(2, at=2), another]
    deployment = a_deployment(replicas=2, ready=1)
    found = evaluate_deployment(deployment, pods)
    assert found.cause.code == "Degraded.StorageLimit", "nobody has taken its place"
    in_its_place = a_pod("router-6c9f-x3", created_at=NOON + 2 * MINUTE)
    found = evaluate_deployment(deployment, [*pods, in_its_place])
    assert found.cause.code == "Degraded.NotReady"
    assert "router-6c9f-x0" in found.message_fields["pods"]


@pytest.mark.parametrize("later", [0, 30], ids=["in the same second", "later"])
def test_a_pod_in_another_place_is_judged_by_itself(later):
    when = NOON + 2 * MINUTE
    in_its_place = a_pod("router-6c9f-x3", created_at=when)
    another = a_pod("router-6c9f-x4", **never_ready(when + later * SECOND), **PENDING)
    pods = [filled(1, at=1), filled(2, at=2), another, in_its_place]
    found = evaluate_deployment(a_deployment(replicas=2, ready=1), pods)
    assert found.cause.code == "Degraded.NotStarted"
    assert "router-6c9f-x4" in found.message_fields["pods"]


def test_a_pod_that_is_ready_in_another_place_ends_no_evictions():
    in_another = a_pod("router-6c9f-x3", created_at=NOON + 1 * MINUTE)
    in_its_place = a_pod("router-6c9f-x4", **never_ready(NOON + 2 * MINUTE), **PENDING)
    pods = [filled(1, at=1), filled(2, at=2), in_its_place, in_another]
    found = evaluate_deployment(a_deployment(replicas=2, ready=1), pods)
    assert found.cause.code == "Degraded.StorageLimit"
