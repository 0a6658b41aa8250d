"""The verdicts about model pods, from their own status."""

import msgspec
import pytest

from reporter.kinds.core import (
    PODS,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
)
from reporter.kinds.kaito import WORKSPACES
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import NOON, SECOND
from tests.support.model_builders import (
    SERVING_CONDITIONS,
    WORKSPACE,
    a_model,
    a_model_pod,
    a_model_store,
    a_set,
    a_workspace,
    lost,
    never_ready,
)
from tests.support.model_pods import LOOP, PENDING, REASON, broken, multi
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


CLEAR = {
    "serves": a_model(),
    "KAITO reports pending under Ready pods": a_model(a_workspace(changed_conditions=PENDING)),
    "KAITO reports crash loop under Ready pods": a_model(
        a_workspace(changed_conditions=broken("ContainerCrashLoopBackOff"))
    ),
    "a leftover of an eviction": a_model(
        a_workspace(changed_conditions=broken("PodEvicted")),
        a_model_pod(1, ready=False, phase="Failed", reason="Evicted"),
    ),
    "a Ready pod that crashed before": a_model(a_model_pod(restarts=9, last_exit=137)),
    "a finished benchmark": a_model(
        a_model_pod(7, owner="Job", ready=False, phase="Succeeded", exit_code=0)
    ),
    "a benchmark that runs": a_model(a_model_pod(7, owner="Job", **never_ready(NOON))),
    "a pod on its way out beside a Ready one": a_model(a_model_pod(1, deleted=NOON, **lost(NOON))),
    "two nodes": multi(a_model_pod(1)),
    "fewer pods than nodes, and KAITO misses none": multi(),
    "a Workspace on its way out": a_model(
        a_workspace("qwen-b2", changed_conditions=broken("ImagePullError"), deleted=NOON)
    ),
    "a pod of another set": a_model(a_model_pod(0, "other-1", of="other", ready=False, **LOOP)),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_model_pods_that_serve_or_are_nobodys_trouble_are_clear(objects):
    verdict = verdict_of(REASON, *objects)
    assert isinstance(verdict, Clear), rendered_message(verdict)


HARD = {
    "crash loop": (LOOP, "Crash", "CrashLoopBackOff (exit code 1, 6 restarts)"),
    "out of memory": (
        {"waiting": "CrashLoopBackOff", "last_exit": 137, "last": "OOMKilled", "restarts": 3},
        "OutOfMemory",
        "CrashLoopBackOff after OOMKilled (exit code 137, 3 restarts)",
    ),
    "warms up after its second end for lack of memory": (
        {"running": NOON, "last_exit": 137, "last": "OOMKilled", "restarts": 2},
        "OutOfMemory",
        "OOMKilled (exit code 137, 2 restarts)",
    ),
    "image": ({"waiting": "ImagePullBackOff"}, "ImagePull", "ImagePullBackOff"),
    "config": (
        {"waiting": "CreateContainerConfigError"},
        "Config",
        "CreateContainerConfigError",
    ),
    "no room for GPUs": (
        {"phase": "Failed", "reason": "OutOfnvidia.com/gpu", "containers": False},
        "OutOfResource",
        "OutOfnvidia.com/gpu",
    ),
}


@pytest.mark.parametrize(("pod", "code", "text"), HARD.values(), ids=HARD.keys())
@pytest.mark.parametrize(
    "changed_conditions", [SERVING_CONDITIONS, PENDING], ids=["KAITO reports ready", "pending"]
)
def test_a_hard_error_of_a_pod_is_reported_whatever_kaito_reports(
    changed_conditions, pod, code, text
):
    made = a_model_pod(**{**never_ready(NOON), **pod})
    verdict = verdict_of(
        REASON, *a_model(a_workspace(changed_conditions=changed_conditions), made)
    )
    found = only_trouble(verdict)
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, code)
    assert found.cause.object.name == WORKSPACE
    assert found.is_crash is (code in {"Crash", "OutOfMemory"})
    assert rendered_message(verdict) == f"model pod qwen-7rk2p-0 is not ready: {text}."


SOFT = {
    "starts": ({"waiting": "ContainerCreating", **never_ready(NOON)}, TroubleKind.STARTING),
    "loads its model": (never_ready(NOON), TroubleKind.STARTING),
    "crashed once before it was ever Ready": (
        {"last_exit": 137, "last": "OOMKilled", "restarts": 1, **never_ready(NOON)},
        TroubleKind.STARTING,
    ),
    "was Ready": (lost(NOON), TroubleKind.LOST),
    "warms up after its first crash": (
        {"running": NOON + SECOND, "last_exit": 1, "restarts": 1, **lost(NOON)},
        TroubleKind.LOST,
    ),
    "is drained": (
        {"conditions": [("DisruptionTarget", "True", "EvictionByEvictionAPI")], **lost(NOON)},
        TroubleKind.STARTING,
    ),
}


@pytest.mark.parametrize(("pod", "kind"), SOFT.values(), ids=SOFT.keys())
@pytest.mark.parametrize(
    "changed_conditions",
    [PENDING, broken("ContainerOOMKilled"), broken("ImagePullError"), broken("PodEvicted")],
    ids=["pending", "sticky end", "old image error", "old eviction"],
)
def test_what_kaito_read_off_the_pods_is_reported_by_the_pods(changed_conditions, pod, kind):
    found = only_trouble(
        verdict_of(
            REASON,
            *a_model(a_workspace(changed_conditions=changed_conditions), a_model_pod(**pod)),
        )
    )
    assert found.kind is kind
    assert found.message_fields["object"] == "model pod qwen-7rk2p-0"


def test_a_pod_that_was_lost_is_reported_without_a_reason_if_it_gives_none():
    verdict = verdict_of(REASON, *a_model(a_model_pod(**lost(NOON))))
    assert rendered_message(verdict) == "model pod qwen-7rk2p-0 is not ready."
    assert only_trouble(verdict).since == NOON


def test_a_pod_that_never_had_a_condition_starts_when_it_was_made():
    pod = a_model_pod(ready=False, created_at=NOON, phase="Pending", containers=False)
    bare = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, conditions=()))
    found = only_trouble(
        verdict_of(REASON, *a_model(a_workspace(changed_conditions=PENDING), bare))
    )
    assert (found.kind, found.since) == (TroubleKind.STARTING, NOON)


def test_the_worst_pod_of_a_replica_is_reported_with_how_many_others():
    pods = a_model_pod(0, **never_ready(NOON)), a_model_pod(1, **{**LOOP, **lost(NOON)})
    verdict = verdict_of(REASON, *multi(*pods, changed_conditions=PENDING))
    assert rendered_message(verdict) == (
        "model pod qwen-7rk2p-1 is not ready: CrashLoopBackOff (exit code 1, 6 restarts),"
        " 1 more pod not ready."
    )


def test_a_worker_that_fails_is_reported_as_well():
    assert only_trouble(verdict_of(REASON, *multi(a_model_pod(1, **{**LOOP, **lost(NOON)}))))


def test_each_replica_that_fails_is_a_cause_of_its_own():
    second = (
        a_workspace("qwen-b2", changed_conditions=PENDING),
        a_model_pod(0, "qwen-b2", **lost(NOON)),
    )
    first = a_model_pod(**{**LOOP, **lost(NOON)})
    verdict = verdict_of(REASON, *a_model(a_set(2), first, *second))
    assert [t.cause.object.name for t in verdict.troubles] == [WORKSPACE, "qwen-b2"]


def test_an_init_container_that_fails_is_reported():
    init = ContainerStatus(
        name="fetch-sas",
        restart_count=4,
        state=ContainerState(running=ContainerStateRunning(started_at=NOON)),
        last_state=ContainerState(
            terminated=ContainerStateTerminated(reason="Error", exit_code=2)
        ),
    )
    pod = a_model_pod(init=(init,), waiting="PodInitializing", **never_ready(NOON))
    found = only_trouble(
        verdict_of(
            REASON, *a_model(a_workspace(changed_conditions=broken("SASTokenFetchFailed")), pod)
        )
    )
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "OtherContainer")
    assert found.message_fields["state"].startswith("is not ready: init container fetch-sas: ")


@pytest.mark.parametrize(
    ("kind", "name"), [(PODS, "qwen-7rk2p-0"), (PODS, "qwen-x-1"), (WORKSPACES, "qwen-7rk2p")]
)
def test_a_model_pod_that_cannot_be_decoded_is_unknown(kind, name):
    store = a_model_store(*a_model())
    store.mark_undecodable(kind, "team-a", name)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def second_replica(**pod) -> tuple:
    return (
        a_workspace("qwen-b2", changed_conditions=PENDING if pod else SERVING_CONDITIONS),
        a_model_pod(0, "qwen-b2", **pod),
    )


def test_a_loss_of_some_replicas_says_how_many_serve():
    failing = {**LOOP, **lost(NOON)}
    verdict = verdict_of(REASON, *a_model(a_set(2), *second_replica(**failing)))
    found = only_trouble(verdict)
    assert (found.cause.code, found.is_out) == ("Degraded.Crash", False)
    assert rendered_message(verdict) == (
        "degraded, 1 of 2 model pods is ready: model pod qwen-b2-0 is not ready:"
        " CrashLoopBackOff (exit code 1, 6 restarts)."
    )


def test_the_loss_of_all_replicas_is_another_cause_and_said_once():
    failing = {**LOOP, **lost(NOON)}
    objects = a_model(a_set(2), a_model_pod(**failing), *second_replica(**failing))
    verdict = verdict_of(REASON, *objects)
    assert [(t.cause.code, t.is_out) for t in verdict.troubles] == [("Crash", True)] * 2
    assert rendered_message(verdict) == (
        "unavailable, 0 of 2 model pods are ready: model pod qwen-7rk2p-0 is not ready:"
        " CrashLoopBackOff (exit code 1, 6 restarts). model pod qwen-b2-0 is not ready:"
        " CrashLoopBackOff (exit code 1, 6 restarts)."
    )


def test_replicas_of_several_nodes_are_counted_as_such():
    other = a_workspace("qwen-b2", nodes=2)
    pods = a_model_pod(0, "qwen-b2"), a_model_pod(1, "qwen-b2")
    verdict = verdict_of(REASON, *multi(a_set(2), a_model_pod(1, **lost(NOON)), other, *pods))
    assert rendered_message(verdict).startswith("degraded, 1 of 2 replicas is ready: model pod")


def test_a_replica_too_many_that_fails_leaves_enough():
    failing = {**LOOP, **lost(NOON)}
    verdict = verdict_of(REASON, *a_model(*second_replica(**failing)))
    assert rendered_message(verdict).startswith("1 of 1 model pods is ready: model pod qwen-b2-0")


def test_a_sidecar_is_reported_by_name_although_the_pod_was_never_ready():
    pod = a_model_pod(container_ready=True, sidecars={"istio-proxy": False}, **never_ready(NOON))
    verdict = verdict_of(REASON, *a_model(pod))
    found = only_trouble(verdict)
    assert (found.kind, found.cause.code) == (TroubleKind.LOST, "ContainerNotReady")
    assert rendered_message(verdict) == (
        "model pod qwen-7rk2p-0 is not ready: container istio-proxy not ready."
    )


def test_a_model_that_loads_beside_a_ready_sidecar_is_starting():
    pod = a_model_pod(sidecars={"istio-proxy": True}, **never_ready(NOON))
    found = only_trouble(verdict_of(REASON, *a_model(pod)))
    assert (found.kind, found.cause.code) == (TroubleKind.STARTING, "NotReady")


def test_the_crash_of_another_container_is_not_the_models():
    pod = a_model_pod(container_ready=True, sidecars={"proxy": "CrashLoopBackOff"}, **lost(NOON))
    assert only_trouble(verdict_of(REASON, *a_model(pod))).cause.code == "OtherContainer"


def test_a_model_pod_of_a_lost_node_is_reported_with_its_ready_containers():
    verdict = verdict_of(REASON, *a_model(a_model_pod(container_ready=True, **lost(NOON))))
    assert rendered_message(verdict) == (
        "model pod qwen-7rk2p-0 is not ready, though all its containers are."
    )
