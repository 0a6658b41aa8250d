"""
What KEDA's own objects add about the scaling of an InferenceSet, and what is normal in them.
"""

import pytest

from reporter.model.kinds import AUTOSCALERS, KINDS, SCALED_OBJECTS
from reporter.model.observations import Unlisted, Unserved
from reporter.model.verdicts import Clear, Unknown
from reporter.model.words import Kind
from tests.builders import LONG_AGO, NOON
from tests.model_builders import SUBJECT, TEAM, a_set, a_team, only, told
from tests.source_builders import a_scaled_object, a_store, an_autoscaler, judged, stated


REASON = "inferencesetScalingMisconfigured"
METRICS = "[{name: queue, type: gauge, upthreshold: 10, downthreshold: 1}]"
SCALING = {"auto-provision": "true", "max-replicas": "4", "metrics": METRICS}
CHECK_FAILED = stated("Ready", "False", "ScaledObjectCheckFailed", "no such scale target")
TRIGGER_ERROR = stated("Ready", "False", "TriggerError", "Triggers are not working correctly")
NO_METRIC = stated("ScalingActive", "False", "FailedGetExternalMetric", "no metrics", LONG_AGO)
NO_SCALE = stated("AbleToScale", "False", "FailedGetScale", "not found", LONG_AGO)


def the_set(replicas: int = 1, ready: int = 1, scaling=None, **changes):
    made = a_set(replicas, scaling=SCALING if scaling is None else scaling, **changes)
    return type(made)(
        metadata=made.metadata,
        spec=made.spec,
        status=type(made.status)(replicas=replicas, ready_replicas=ready),
    )


def store(*objects, **changes):
    return a_store(a_team(), *objects, **changes)


def verdict(*objects, unwatched=(), **changes):
    return judged(REASON, SUBJECT, store(*objects, **changes), unwatched)


CLEAR = {
    "all is well": [the_set(), a_scaled_object(), an_autoscaler(stated("ScalingActive", "True"))],
    "not asked to be scaled": [the_set(scaling={})],
    "KEDA has not looked yet": [the_set(), a_scaled_object("qwen", stated("Active", "Unknown"))],
    "some triggers fail": [
        the_set(),
        a_scaled_object("qwen", stated("Ready", "Unknown", "PartialTriggerError")),
    ],
    "not active, which is normal": [
        the_set(),
        a_scaled_object("qwen", stated("Active", "False", "ScalerNotActive")),
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
    "paused, says KEDA": [
        the_set(),
        a_scaled_object("qwen", CHECK_FAILED, stated("Paused", "True", "ScaledObjectPaused")),
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
        an_autoscaler(stated("ScalingActive", "False", "ScalingDisabled")),
    ],
    "it has just scaled": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(stated("AbleToScale", "False", "BackoffBoth")),
    ],
    "as many as are allowed": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(stated("ScalingLimited", "True", "TooManyReplicas")),
    ],
    "the autoscaler is on its way out": [
        the_set(),
        a_scaled_object(),
        an_autoscaler(NO_SCALE, deleted=NOON),
    ],
    "no autoscaler yet": [the_set(), a_scaled_object()],
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_it_is_clear(objects):
    assert isinstance(verdict(*objects), Clear)


TOLD = {
    "never made": (
        [the_set()],
        ("ScaledObjectNotFound", Kind.STARTING),
        "ScaledObject qwen does not exist, although auto-provision asks for it",
    ),
    "rejected, whether the model runs or not": (
        [the_set(ready=0), a_scaled_object("qwen", CHECK_FAILED)],
        ("ScaledObjectRejected", Kind.FAILED),
        "ScaledObject qwen has Ready=False (ScaledObjectCheckFailed): no such scale target",
    ),
    "triggers fail though the model is ready": (
        [the_set(2, 2), a_scaled_object("qwen", TRIGGER_ERROR)],
        ("TriggerError", Kind.LOST),
        "ScaledObject qwen has Ready=False (TriggerError): Triggers are not working correctly",
    ),
    "no metrics though the model is ready": (
        [the_set(), a_scaled_object(), an_autoscaler(NO_METRIC)],
        ("MetricsUnavailable", Kind.LOST),
        (
            "HorizontalPodAutoscaler keda-hpa-qwen has ScalingActive=False"
            " (FailedGetExternalMetric): no metrics"
        ),
    ),
    "the set cannot be scaled": (
        [the_set(ready=0), a_scaled_object(), an_autoscaler(NO_METRIC, NO_SCALE)],
        ("ScaleFailed", Kind.FAILED),
        "HorizontalPodAutoscaler keda-hpa-qwen has AbleToScale=False (FailedGetScale): not found",
    ),
}


@pytest.mark.parametrize(("objects", "cause", "text"), TOLD.values(), ids=TOLD.keys())
def test_it_is_told(objects, cause, text):
    found = verdict(*objects)
    assert (only(found).cause.code, only(found).kind) == cause
    assert told(found) == f"scaling misconfigured: {text}."


@pytest.mark.parametrize(("objects", "cause", "text"), TOLD.values(), ids=TOLD.keys())
def test_without_the_source_nothing_of_it_is_known(objects, cause, text):
    default = [each for each in objects if type(each) is type(the_set())]
    assert isinstance(verdict(*default, kinds=KINDS), Clear)


def test_one_that_was_there_is_lost():
    found = verdict(the_set(), deleted=[a_scaled_object()])
    assert only(found).kind is Kind.LOST
    assert "ScaledObject qwen was deleted, and not made again" in told(found)


def test_of_annotations_that_are_wrong_only_these_are_told():
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    found = verdict(wrong, a_scaled_object("qwen", CHECK_FAILED))
    assert only(found).cause.code == "Replicas"


# ---------------------------------------------------------------- what cannot be seen


@pytest.mark.parametrize("sight", [Unserved(), Unlisted("may not list scaledobjects.keda.sh")])
def test_scaled_objects_that_are_out_of_sight_are_not_missed_and_annotations_judged(sight):
    sights = {SCALED_OBJECTS: sight}
    assert isinstance(verdict(the_set(), sights=sights), Clear)
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    assert only(verdict(wrong, sights=sights)).cause.code == "Replicas"


def test_without_autoscalers_the_scaled_object_is_judged_all_the_same():
    sights = {AUTOSCALERS: Unlisted("forbidden")}
    objects = [the_set(), an_autoscaler(NO_SCALE)]
    assert isinstance(verdict(*objects, a_scaled_object(), sights=sights), Clear)
    assert only(verdict(*objects, a_scaled_object("qwen", CHECK_FAILED), sights=sights))


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([the_set()], SCALED_OBJECTS),
        ([the_set(), a_scaled_object("qwen", CHECK_FAILED)], SCALED_OBJECTS),
        ([the_set(), a_scaled_object(), an_autoscaler(NO_SCALE)], AUTOSCALERS),
    ],
)
def test_trouble_that_was_last_seen_is_neither_told_nor_cleared(objects, kind):
    assert isinstance(verdict(*objects, unwatched=[kind]), Unknown)


def test_nothing_wrong_that_was_last_seen_holds_up_nothing():
    unwatched = [SCALED_OBJECTS, AUTOSCALERS]
    assert isinstance(verdict(the_set(), a_scaled_object(), unwatched=unwatched), Clear)
    wrong = the_set(scaling={**SCALING, "max-replicas": "0"})
    assert only(verdict(wrong, unwatched=unwatched)).cause.code == "Replicas"


@pytest.mark.parametrize("kind", [SCALED_OBJECTS, AUTOSCALERS])
def test_one_that_cannot_be_decoded_is_unknown(kind):
    objects = [the_set()] if kind is SCALED_OBJECTS else [the_set(), a_scaled_object()]
    known = store(*objects)
    known.spoil(kind, TEAM, "qwen" if kind is SCALED_OBJECTS else "keda-hpa-qwen")
    assert isinstance(judged(REASON, SUBJECT, known), Unknown)


# ---------------------------------------------------------------- who is touched


def test_a_change_touches_the_set_that_is_scaled_and_nobody_else():
    known = store()
    known.take_dirty()
    known.put(SCALED_OBJECTS, a_scaled_object("other-name"))
    known.put(AUTOSCALERS, an_autoscaler())
    assert known.take_dirty() == {SUBJECT}
    known.put(SCALED_OBJECTS, a_scaled_object("web", kind="Deployment", of="web"))
    assert known.take_dirty() == frozenset()
