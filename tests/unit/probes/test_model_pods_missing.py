"""The verdicts about model pods that do not exist or report nothing, from KAITO's conditions."""

from datetime import timedelta

import pytest

from reporter.kinds.core import Pod
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear
from tests.support.builders import NOON
from tests.support.model_builders import (
    SERVING_CONDITIONS,
    WAITING_CONDITIONS,
    a_model,
    a_model_pod,
    a_set,
    a_workspace,
    lost,
    never_ready,
)
from tests.support.model_pods import LOOP, PENDING, REASON, broken, multi
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


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
    ("pod", "why"),
    [
        ({"deleted": NOON}, ""),
        ({"phase": "Failed", "reason": "Evicted", "ready": False}, " (Evicted)"),
    ],
)
def test_a_pod_that_is_being_replaced(pod, why):
    verdict = verdict_of(REASON, *a_model(a_workspace(state="NotReady"), a_model_pod(**pod)))
    assert only_trouble(verdict).kind is TroubleKind.STARTING
    assert (
        rendered_message(verdict)
        == f"Workspace qwen-7rk2p has no model pod, the old one is being replaced{why}."
    )


def test_a_replica_that_lacks_one_of_its_pods():
    verdict = verdict_of(REASON, *multi(changed_conditions=PENDING))
    assert rendered_message(verdict) == "Workspace qwen-7rk2p has 1/2 model pods."


OF_KAITO = {
    "ImagePullError": "ImagePull",
    "ContainerCrashLoopBackOff": "Crash",
    "ContainerOOMKilled": "OutOfMemory",
    "ContainerStartError": "StartError",
    "PodEvicted": "Evicted",
    "NodeDiskPressure": "Evicted",
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


def test_a_pod_that_never_was_is_missed_since_the_node_came():
    came = a_workspace(changed_conditions={"InferenceReady": None}, state="", since=NOON)
    assert only_trouble(verdict_of(REASON, *a_model(came, without=[Pod]))).since == NOON


def test_pods_and_their_absence_count_although_kaito_is_behind():
    made = a_workspace(changed_conditions=broken("ImagePullError"), generation=2, observed=1)
    missing = only_trouble(verdict_of(REASON, *a_model(made, without=[Pod])))
    assert (missing.kind, missing.cause.code) == (TroubleKind.STARTING, "Missing")
    loop = a_model_pod(**{**LOOP, **lost(NOON)})
    assert only_trouble(verdict_of(REASON, *a_model(made, loop))).kind is TroubleKind.FAILED
    assert isinstance(verdict_of(REASON, *a_model(made)), Clear)


RECONCILE = " (last reconcile error: no such instance type (Standard_NC9999))"


def erring(message: str, **changes):
    """
    Build a Workspace whose conditions are True but for the pods, each with an error of KAITO.
    """
    stated = {kind: (*words, message) for kind, words in SERVING_CONDITIONS.items()}
    waiting = ("False", "WorkspaceInferenceStatusPending", f"not ready{message}")
    return a_workspace(changed_conditions={**stated, "InferenceReady": waiting}, **changes)


@pytest.mark.parametrize("message", [RECONCILE, RECONCILE[:-1]], ids=["whole", "cut"])
def test_an_error_of_kaito_itself_is_quoted_and_held_for_a_moment_only(message):
    verdict = verdict_of(REASON, *a_model(erring(message), without=[Pod]))
    found = only_trouble(verdict)
    assert (found.kind, found.cause.code, found.hold, found.since) == (
        TroubleKind.STARTING,
        "ReconcileError",
        timedelta(seconds=90),
        None,
    )
    assert rendered_message(verdict) == (
        "Workspace qwen-7rk2p cannot be reconciled by KAITO:"
        f" no such instance type (Standard_NC9999{')' if message == RECONCILE else ''}."
    )


def test_an_error_of_kaito_explains_pods_that_start_and_none_that_crash_or_serve():
    starts = a_model(erring(RECONCILE), a_model_pod(**never_ready(NOON)))
    assert only_trouble(verdict_of(REASON, *starts)).cause.code == "ReconcileError"
    crashes = a_model(erring(RECONCILE), a_model_pod(**{**LOOP, **never_ready(NOON)}))
    assert only_trouble(verdict_of(REASON, *crashes)).cause.code == "Crash"
    assert isinstance(verdict_of(REASON, *a_model(erring(RECONCILE))), Clear)


def test_an_error_of_kaito_about_pods_that_were_there_is_held_as_their_loss():
    lost_pods = a_model(erring(RECONCILE, state="NotReady"), without=[Pod])
    found = only_trouble(verdict_of(REASON, *lost_pods))
    assert (found.kind, found.cause.code, found.hold) == (TroubleKind.LOST, "ReconcileError", None)


def test_workspaces_of_a_set_without_any_status_are_missing_since_its_creation():
    objects = a_model(a_set(created_at=NOON), without=[type(a_workspace()), Pod])
    found = only_trouble(verdict_of(REASON, *objects))
    assert (found.cause.code, found.since, found.hold) == (
        "NoWorkspace",
        NOON,
        timedelta(minutes=3),
    )
