"""The verdicts about scaling with the source keda, which reads ScaledObjects and autoscalers."""

import pytest

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed, NotSynced
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import LONG_AGO, NOON, a_condition
from tests.support.model_builders import SUBJECT, TEAM, a_set, a_team
from tests.support.model_verdicts import rendered_message
from tests.support.probe_verdicts import only_trouble
from tests.support.source_builders import (
    a_scaled_object,
    a_store,
    an_autoscaler,
    verdict_of,
)


REASON = "inferencesetScalingMisconfigured"
METRICS = "[{name: queue, type: gauge, upthreshold: 10, downthreshold: 1}]"
SCALING = {"auto-provision": "true", "max-replicas": "4", "metrics": METRICS}
SCALER = {"app.kubernetes.io/name": "keda-kaito-scaler"}
CHECK_FAILED = a_condition("Ready", "False", "ScaledObjectCheckFailed", "no such scale target")
TRIGGER_ERROR = a_condition("Ready", "False", "TriggerError", "Triggers are not working correctly")
NO_METRIC = a_condition(
    "ScalingActive", "False", "FailedGetExternalMetric", "no metrics", LONG_AGO
)
NO_SCALE = a_condition("AbleToScale", "False", "FailedGetScale", "not found", LONG_AGO)


def the_set(replicas: int = 1, ready: int = 1, scaling=None, **changes):
    made = a_set(replicas, scaling=SCALING if scaling is None else scaling, **changes)
    return type(made)(
        metadata=made.metadata,
        spec=made.spec,
        status=type(made.status)(ready_replicas=ready),
    )


def store(*objects, **changes):
    return a_store(a_team(), *objects, **changes)


def verdict(*objects, unwatched=(), **changes):
    return verdict_of(REASON, SUBJECT, store(*objects, **changes), unwatched)


CLEAR = {
    "all is well": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(a_condition("ScalingActive", "True")),
    ],
    "scaling not requested": [the_set(scaling={})],
    "KEDA has not looked yet": [
        the_set(),
        a_scaled_object("qwen", a_condition("Active", "Unknown")),
    ],
    "some triggers fail": [
        the_set(),
        a_scaled_object("qwen", a_condition("Ready", "Unknown", "PartialTriggerError")),
    ],
    "not active, which is normal": [
        the_set(),
        a_scaled_object("qwen", a_condition("Active", "False", "ScalerNotActive")),
    ],
    "triggers fail while the model starts": [
        the_set(ready=0),
        a_scaled_object("qwen", TRIGGER_ERROR),
    ],
    "triggers fail while it scales up": [the_set(2), a_scaled_object("qwen", TRIGGER_ERROR)],
    "triggers fail at zero": [the_set(0, 0), a_scaled_object("qwen", TRIGGER_ERROR)],
    "paused by an annotation": [
        the_set(),
        a_scaled_object("qwen", CHECK_FAILED, annotations={"autoscaling.keda.sh/paused": "true"}),
    ],
    "paused at a number": [
        the_set(),
        a_scaled_object(
            "qwen", CHECK_FAILED, annotations={"autoscaling.keda.sh/paused-replicas": "2"}
        ),
    ],
    "paused, as KEDA reports": [
        the_set(),
        a_scaled_object("qwen", CHECK_FAILED, a_condition("Paused", "True", "ScaledObjectPaused")),
    ],
    "on its way out": [the_set(), a_scaled_object("qwen", CHECK_FAILED, deleted=NOON)],
    "of another name, made by hand": [the_set(), a_scaled_object("by-hand")],
    "of another set": [
        the_set(),
        a_scaled_object(),
        a_scaled_object("other", CHECK_FAILED, of="other"),
    ],
    "no metrics while the model starts": [
        the_set(ready=0),
        a_scaled_object(),
        an_autoscaler(NO_METRIC),
    ],
    "the autoscaler rests at zero": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(a_condition("ScalingActive", "False", "ScalingDisabled")),
    ],
    "it has just scaled": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(a_condition("AbleToScale", "False", "BackoffBoth")),
    ],
    "as many as are allowed": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(a_condition("ScalingLimited", "True", "TooManyReplicas")),
    ],
    "the autoscaler is on its way out": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(NO_SCALE, deleted=NOON),
    ],
    "no autoscaler yet": [the_set(), a_scaled_object()],
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_scaling_that_keda_carries_out_is_clear(objects):
    assert isinstance(verdict(*objects), Clear)


TOLD = {
    "never made": (
        [the_set()],
        ("ScaledObjectNotFound", TroubleKind.STARTING),
        "ScaledObject qwen does not exist, although auto-provision asks for it",
    ),
    "rejected, whether the model runs or not": (
        [the_set(ready=0), a_scaled_object("qwen", CHECK_FAILED)],
        ("ScaledObjectRejected", TroubleKind.FAILED),
        "ScaledObject qwen has Ready=False (ScaledObjectCheckFailed): no such scale target",
    ),
    "triggers fail though the model is ready": (
        [the_set(2, 2), a_scaled_object("qwen", TRIGGER_ERROR)],
        ("TriggerError", TroubleKind.LOST),
        "ScaledObject qwen has Ready=False (TriggerError): Triggers are not working correctly",
    ),
    "no metrics though the model is ready": (
        [the_set(), a_scaled_object(), an_autoscaler(NO_METRIC)],
        ("MetricsUnavailable", TroubleKind.LOST),
        (
            "HorizontalPodAutoscaler keda-hpa-qwen has ScalingActive=False"
            " (FailedGetExternalMetric): no metrics"
        ),
    ),
    "the set cannot be scaled": (
        [the_set(ready=0), a_scaled_object(), an_autoscaler(NO_METRIC, NO_SCALE)],
        ("ScaleFailed", TroubleKind.FAILED),
        "HorizontalPodAutoscaler keda-hpa-qwen has AbleToScale=False (FailedGetScale): not found",
    ),
}


@pytest.mark.parametrize(("objects", "cause", "text"), TOLD.values(), ids=TOLD.keys())
def test_scaling_that_keda_cannot_carry_out_is_reported(objects, cause, text):
    found = verdict(*objects)
    assert (only_trouble(found).cause.code, only_trouble(found).kind) == cause
    assert rendered_message(found) == f"scaling misconfigured: {text}."


@pytest.mark.parametrize(("objects", "cause", "text"), TOLD.values(), ids=TOLD.keys())
def test_without_the_source_nothing_of_it_is_known(objects, cause, text):
    default = [each for each in objects if type(each) is type(the_set())]
    assert isinstance(verdict(*default, kinds=DEFAULT_KINDS), Clear)


def test_a_scaled_object_that_was_there_is_lost():
    found = verdict(the_set(), deleted=[a_scaled_object()])
    assert only_trouble(found).kind is TroubleKind.LOST
    assert "ScaledObject qwen was deleted, and not made again" in rendered_message(found)


def test_of_annotations_that_are_wrong_only_these_are_reported():
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    found = verdict(wrong, a_scaled_object("qwen", CHECK_FAILED))
    assert only_trouble(found).cause.code == "Replicas"


# ---------------------------------------------------------------- what cannot be seen


@pytest.mark.parametrize(
    "watch_state", [NotServed(), NotSynced("may not list scaledobjects.keda.sh")]
)
def test_scaled_objects_without_a_watch_are_not_missed_and_annotations_evaluated(watch_state):
    watch_states = {SCALED_OBJECTS: watch_state}
    assert isinstance(verdict(the_set(), watch_states=watch_states), Clear)
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    assert only_trouble(verdict(wrong, watch_states=watch_states)).cause.code == "Replicas"


def test_without_autoscalers_the_scaled_object_is_evaluated_all_the_same():
    watch_states = {HORIZONTAL_POD_AUTOSCALERS: NotSynced("forbidden")}
    objects = [the_set(), an_autoscaler(NO_SCALE)]
    assert isinstance(verdict(*objects, a_scaled_object(), watch_states=watch_states), Clear)
    assert only_trouble(
        verdict(*objects, a_scaled_object("qwen", CHECK_FAILED), watch_states=watch_states)
    )


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([the_set()], SCALED_OBJECTS),
        ([the_set(), a_scaled_object("qwen", CHECK_FAILED)], SCALED_OBJECTS),
        ([the_set(), a_scaled_object(), an_autoscaler(NO_SCALE)], HORIZONTAL_POD_AUTOSCALERS),
    ],
)
def test_scaling_trouble_that_was_last_seen_is_neither_reported_nor_cleared(objects, kind):
    assert isinstance(verdict(*objects, unwatched=[kind]), Unknown)


def test_nothing_wrong_that_was_last_seen_holds_up_nothing():
    unwatched = [SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS]
    assert isinstance(verdict(the_set(), a_scaled_object(), unwatched=unwatched), Clear)
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    assert only_trouble(verdict(wrong, unwatched=unwatched)).cause.code == "Replicas"


@pytest.mark.parametrize("kind", [SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS])
def test_a_scaled_object_that_cannot_be_decoded_is_unknown(kind):
    objects = [the_set()] if kind is SCALED_OBJECTS else [the_set(), a_scaled_object()]
    known = store(*objects)
    known.mark_undecodable(kind, TEAM, "qwen" if kind is SCALED_OBJECTS else "keda-hpa-qwen")
    assert isinstance(verdict_of(REASON, SUBJECT, known), Unknown)


# ---------------------------------------------------------------- who is touched


def test_a_change_touches_the_set_that_is_scaled_and_nobody_else():
    known = store()
    known.take_dirty()
    known.upsert(SCALED_OBJECTS, a_scaled_object("other-name"))
    known.upsert(HORIZONTAL_POD_AUTOSCALERS, an_autoscaler())
    assert known.take_dirty() == {SUBJECT}
    known.upsert(SCALED_OBJECTS, a_scaled_object("web", kind="Deployment", of="web"))
    assert known.take_dirty() == frozenset()
