"""The verdicts about a Workspace of which KAITO and the kubelet tell different things."""

import pytest

from reporter.kinds.core import Pod
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import NOON
from tests.support.model_builders import a_model, a_model_pod, a_workspace
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetStatusContradicted"


def called(reason: str, status: str = "False", **changes):
    return a_workspace(changed_conditions={"InferenceReady": (status, reason)}, **changes)


CRASH = called("ContainerCrashLoopBackOff")

CLEAR = {
    "both well": a_model(),
    "no condition": a_model(a_workspace(bare=True)),
    "KAITO waits": a_model(called("WorkspaceInferenceStatusPending")),
    "it speaks of the node": a_model(called("NodeDiskPressure")),
    "the pods fail too": a_model(CRASH, a_model_pod(ready=False)),
    "no pods": a_model(CRASH, without=[Pod]),
    "a pod that was evicted is still there": a_model(
        called("PodEvicted"),
        a_model_pod(1, phase="Failed", reason="Evicted", owner="ReplicaSet/x"),
    ),
    "a pod is on its way out": a_model(CRASH, a_model_pod(1, deleted=NOON)),
    "being deleted": a_model(called("ContainerCrashLoopBackOff", deleted=NOON)),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_what_agrees_or_is_no_failure_is_clear(objects):
    verdict = verdict_of(REASON, *objects)
    assert isinstance(verdict, Clear), rendered_message(verdict)


def test_a_failure_over_ready_pods_names_both():
    verdict = verdict_of(REASON, *a_model(CRASH))
    assert rendered_message(verdict) == (
        "KAITO and the pods disagree: Workspace qwen-7rk2p InferenceReady=False"
        " (ContainerCrashLoopBackOff), while its model pod is Ready."
    )
    found = only_trouble(verdict)
    assert (found.kind, found.is_out, found.cause.code) == (
        TroubleKind.LOST,
        False,
        "Contradicted",
    )


def test_a_word_about_an_older_spec_is_unknown():
    old = called("ContainerCrashLoopBackOff", observed=1, generation=2)
    assert isinstance(verdict_of(REASON, *a_model(old)), Unknown)
