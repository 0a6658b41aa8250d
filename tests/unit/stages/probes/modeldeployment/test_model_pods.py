"""
The verdicts about model pods, from their own status and from KAITO's conditions.
"""

import msgspec
import pytest

from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.pods import (
    PODS,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
    Pod,
)
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import HOUR, LONG_AGO, MINUTE, NOON, SECOND
from tests.support.model_builders import (
    SERVING_CONDITIONS,
    WAITING_CONDITIONS,
    WORKSPACE,
    a_model,
    a_model_pod,
    a_model_store,
    a_set,
    a_set_condition,
    a_workspace,
    lost,
    never_ready,
    only_trouble,
    rendered_message,
    verdict_of,
)


REASON = "inferencesetModelPodsNotReady"
PENDING = {"InferenceReady": WAITING_CONDITIONS["InferenceReady"]}
LOOP = {"waiting": "CrashLoopBackOff", "last_exit": 1, "restarts": 6}


def broken(reason: str, message: str = "", **others) -> dict:
    return {"InferenceReady": ("False", reason, message), **others}


def upgrading(since=NOON - MINUTE, **changes):
    """
    Return a Workspace whose upgrade in place began a minute ago.
    """
    return a_workspace(
        changed_conditions=PENDING,
        labels={"kaito.sh/upgrade-to-version": "0.9.1"},
        annotations={"kaito.sh/upgrade-start-time": since.strftime("%Y-%m-%dT%H:%M:%SZ")},
        **changes,
    )


def multi(*pods, **changes) -> list:
    """
    Return a model with one replica of two nodes.
    """
    return a_model(a_workspace(nodes=2, **changes), *pods)


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
def test_it_is_clear(objects):
    verdict = verdict_of(REASON, *objects)
    assert isinstance(verdict, Clear), rendered_message(verdict)


# ---------------------------------------------------------------- what pods tell


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
        "Failed",
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
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Crash")


# ---------------------------------------------------------------- nodes, upgrades, scaling


LACKS_GPU = {
    "conditions": [("PodScheduled", "False", "Unschedulable", "0/4 nodes are available")],
    "phase": "Pending",
    "containers": False,
    **never_ready(NOON),
}
ON_THEIR_WAY = {
    "the node is on its way": {**WAITING_CONDITIONS, "NodeClaimReady": ("False", "NodeNotFound")},
    "its drivers are": {**PENDING, "NodesReady": ("False", "NodePluginsNotReady")},
    "own nodes that are not ready": {**WAITING_CONDITIONS, "NodeClaimReady": None},
}
THERE = {
    "the node came": broken("Unschedulable"),
    "own nodes": broken("Unschedulable", NodeClaimReady=None),
}


@pytest.mark.parametrize("changed_conditions", ON_THEIR_WAY.values(), ids=ON_THEIR_WAY.keys())
def test_a_pod_that_waits_for_its_node_is_none_of_the_pods_trouble(changed_conditions):
    objects = a_model(a_workspace(changed_conditions=changed_conditions), a_model_pod(**LACKS_GPU))
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize("changed_conditions", THERE.values(), ids=THERE.keys())
def test_a_pod_that_fits_no_node_counts_once_the_node_came(changed_conditions):
    objects = a_model(a_workspace(changed_conditions=changed_conditions), a_model_pod(**LACKS_GPU))
    found = only_trouble(verdict_of(REASON, *objects))
    assert (found.kind, found.cause.code) == (TroubleKind.LOST, "Unschedulable")
    assert found.foreign_text == "0/4 nodes are available"


def test_an_upgrade_in_place_takes_its_pod_down():
    found = only_trouble(verdict_of(REASON, *a_model(upgrading(), a_model_pod(**lost(NOON)))))
    assert found.kind is TroubleKind.STARTING


def test_an_upgrade_that_is_over_excuses_nothing():
    """
    KAITO does not remove the label and the annotation of an upgrade.
    """
    newer = a_model_pod(created_at=LONG_AGO + HOUR, started=LONG_AGO + HOUR, **lost(NOON))
    found = only_trouble(verdict_of(REASON, *a_model(upgrading(LONG_AGO), newer)))
    assert found.kind is TroubleKind.LOST


def test_an_upgrade_that_crashes_is_reported():
    found = only_trouble(
        verdict_of(REASON, *a_model(upgrading(), a_model_pod(**{**LOOP, **lost(NOON)})))
    )
    assert found.kind is TroubleKind.FAILED


@pytest.mark.parametrize(
    "meta",
    [
        {"labels": {"kaito.sh/upgrade-to-version": "0.9.1"}},
        {"annotations": {"kaito.sh/upgrade-start-time": "2026-05-01T11:59:00Z"}},
        {
            "labels": {"kaito.sh/upgrade-to-version": "0.9.1"},
            "annotations": {"kaito.sh/upgrade-start-time": "yesterday"},
        },
    ],
)
def test_half_an_upgrade_is_none(meta):
    found = only_trouble(
        verdict_of(REASON, *a_model(a_workspace(**meta), a_model_pod(**lost(NOON))))
    )
    assert found.kind is TroubleKind.LOST


def test_a_start_time_without_a_zone_is_read_as_utc():
    made = a_workspace(
        labels={"kaito.sh/upgrade-to-version": "1"},
        annotations={"kaito.sh/upgrade-start-time": "2026-05-01T11:59:00"},
    )
    assert (
        only_trouble(verdict_of(REASON, *a_model(made, a_model_pod(**lost(NOON))))).kind
        is TroubleKind.STARTING
    )


def test_two_revisions_at_once_are_a_rolling_update():
    pods = a_model_pod(0, **lost(NOON)), a_model_pod(1, revision="2", **never_ready(NOON))
    assert (
        only_trouble(verdict_of(REASON, *multi(*pods, changed_conditions=PENDING))).kind
        is TroubleKind.STARTING
    )


def test_a_replica_too_many_is_being_removed():
    surplus = (
        a_workspace("qwen-b2", changed_conditions=PENDING),
        a_model_pod(0, "qwen-b2", **lost(NOON)),
    )
    assert only_trouble(verdict_of(REASON, *a_model(*surplus))).kind is TroubleKind.STARTING
    assert only_trouble(verdict_of(REASON, *a_model(a_set(2), *surplus))).kind is TroubleKind.LOST


def test_a_surge_that_fails_is_reported():
    new = a_workspace("qwen-b2", changed_conditions=PENDING)
    pod = a_model_pod(0, "qwen-b2", waiting="ImagePullBackOff", **never_ready(NOON))
    assert only_trouble(verdict_of(REASON, *a_model(new, pod))).kind is TroubleKind.FAILED


def test_a_set_that_scales_up_lacks_a_workspace():
    verdict = verdict_of(REASON, *a_model(a_set(3)))
    assert rendered_message(verdict) == "KAITO has made 1/3 Workspaces."
    assert (only_trouble(verdict).kind, only_trouble(verdict).cause.code) == (
        TroubleKind.STARTING,
        "NoWorkspace",
    )


def failed(**changes):
    condition = a_set_condition(
        "InferenceSetReady", "False", "inferencesetFailed", "no preset x", NOON
    )
    return a_set(conditions=(condition,), **changes)


def test_what_kaito_could_not_do_is_a_hard_error():
    found = only_trouble(
        verdict_of(REASON, *a_model(failed(), without=[type(a_workspace()), Pod]))
    )
    assert (found.kind, found.foreign_text, found.since) == (
        TroubleKind.FAILED,
        "no preset x",
        NOON,
    )


def test_what_it_could_not_do_with_an_older_spec_is_unknown():
    objects = a_model(failed(generation=2), without=[type(a_workspace()), Pod])
    assert isinstance(verdict_of(REASON, *objects), Unknown)


def test_what_it_could_not_do_is_over_once_all_is_made():
    assert isinstance(verdict_of(REASON, *a_model(failed())), Clear)


# ---------------------------------------------------------------- no pods


MISSING = {
    "never was any": (PENDING, {}, TroubleKind.STARTING),
    "were there": (PENDING, {"state": "NotReady"}, TroubleKind.LOST),
    "KAITO still reports ready": (SERVING_CONDITIONS, {}, TroubleKind.LOST),
}


@pytest.mark.parametrize(
    ("changed_conditions", "changes", "kind"), MISSING.values(), ids=MISSING.keys()
)
def test_a_replica_without_pods(changed_conditions, changes, kind):
    verdict = verdict_of(
        REASON,
        *a_model(a_workspace(changed_conditions=changed_conditions, **changes), without=[Pod]),
    )
    assert (only_trouble(verdict).kind, only_trouble(verdict).cause.code) == (kind, "Missing")
    assert rendered_message(verdict) == "Workspace qwen-7rk2p has no model pod."


@pytest.mark.parametrize(
    "pod", [{"deleted": NOON}, {"phase": "Failed", "reason": "Evicted", "ready": False}]
)
def test_a_pod_that_is_being_replaced(pod):
    verdict = verdict_of(REASON, *a_model(a_workspace(state="NotReady"), a_model_pod(**pod)))
    assert only_trouble(verdict).kind is TroubleKind.STARTING
    assert (
        rendered_message(verdict)
        == "Workspace qwen-7rk2p has no model pod, the old one is being replaced."
    )


def test_a_replica_that_lacks_one_of_its_pods():
    verdict = verdict_of(REASON, *multi(changed_conditions=PENDING))
    assert rendered_message(verdict) == "Workspace qwen-7rk2p has 1/2 model pods."


OF_KAITO = {
    "ImagePullError": "ImagePull",
    "ContainerCrashLoopBackOff": "Crash",
    "ContainerOOMKilled": "OutOfMemory",
    "ContainerStartError": "Config",
    "PodEvicted": "Failed",
    "NodeDiskPressure": "Failed",
    "Unschedulable": "Unschedulable",
    "ModelStreamingStorageClassNotFound": "Workspace",
    "ModelMirrorCreateFailed": "Workspace",
    "WordOfAnotherRelease": "Workspace",
}


@pytest.mark.parametrize(("reason", "code"), OF_KAITO.items())
def test_without_a_pod_to_be_seen_kaitos_conditions_count(reason, code):
    made = a_workspace(changed_conditions=broken(reason, "it says why"), since=NOON)
    verdict = verdict_of(REASON, *a_model(made, without=[Pod]))
    assert (only_trouble(verdict).kind, only_trouble(verdict).cause.code) == (
        TroubleKind.FAILED,
        code,
    )
    assert only_trouble(verdict).since == NOON
    assert (
        rendered_message(verdict)
        == f"Workspace qwen-7rk2p InferenceReady=False ({reason}): it says why."
    )


def test_an_error_that_no_pod_can_report_counts_while_pods_wait():
    made = a_workspace(changed_conditions=broken("ModelStreamingInvalidStorageClass", "x"))
    found = only_trouble(verdict_of(REASON, *a_model(made, a_model_pod(**never_ready(NOON)))))
    assert (found.kind, found.cause.code) == (TroubleKind.FAILED, "Workspace")


def test_an_error_of_resources_counts_once_the_nodes_came():
    error = {**PENDING, "ResourceReady": ("False", "ModelMirrorFailed", "x")}
    coming = {**error, "NodeClaimReady": ("False", "NodeNotFound")}
    waits = a_model_pod(**never_ready(NOON))
    assert (
        only_trouble(
            verdict_of(REASON, *a_model(a_workspace(changed_conditions=error), waits))
        ).kind
        is TroubleKind.FAILED
    )
    assert (
        only_trouble(
            verdict_of(REASON, *a_model(a_workspace(changed_conditions=coming), waits))
        ).kind
        is TroubleKind.STARTING
    )


NO_NODE_YET = {
    "it is on its way": (WAITING_CONDITIONS, {}),
    "KAITO calls the pod that is to come unschedulable": (
        {**broken("Unschedulable"), "NodeClaimReady": ("False", "NodeNotFound")},
        {},
    ),
    "KAITO reported nothing yet": (None, {"bare": True}),
}


@pytest.mark.parametrize(
    ("changed_conditions", "changes"), NO_NODE_YET.values(), ids=NO_NODE_YET.keys()
)
def test_without_a_node_no_pod_is_missed(changed_conditions, changes):
    replica = a_workspace(changed_conditions=changed_conditions, **changes)
    assert isinstance(verdict_of(REASON, *a_model(replica, without=[Pod])), Clear)


def test_a_writer_that_is_behind_is_unknown_only_where_pods_report_nothing():
    made = a_workspace(changed_conditions=broken("ImagePullError"), generation=2, observed=1)
    assert isinstance(verdict_of(REASON, *a_model(made, without=[Pod])), Unknown)
    loop = a_model_pod(**{**LOOP, **lost(NOON)})
    assert only_trouble(verdict_of(REASON, *a_model(made, loop))).kind is TroubleKind.FAILED
    assert isinstance(verdict_of(REASON, *a_model(made)), Clear)


@pytest.mark.parametrize(
    ("kind", "name"), [(PODS, "qwen-7rk2p-0"), (PODS, "qwen-x-1"), (WORKSPACES, "qwen-7rk2p")]
)
def test_what_cannot_be_decoded_is_unknown(kind, name):
    store = a_model_store(*a_model())
    store.mark_undecodable(kind, "team-a", name)
    assert isinstance(verdict_of(REASON, store=store), Unknown)
