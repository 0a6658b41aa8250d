"""
The verdicts about scaling while keda-kaito-scaler warms up, and about a ScaledObject of another target.
"""

from datetime import timedelta

import pytest

from reporter.kinds.objects import OwnerReference
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear
from tests.support.builders import LONG_AGO, NOON, a_condition, a_deployment, a_pod
from tests.support.model_builders import SUBJECT, a_model_pod, a_set, a_team
from tests.support.model_verdicts import rendered_message
from tests.support.probe_verdicts import only_trouble
from tests.support.source_builders import (
    a_scaled_object,
    a_store,
    an_autoscaler,
    verdict_of,
)


METRICS = "[{name: queue, type: gauge, upthreshold: 10, downthreshold: 1}]"
SCALING = {"auto-provision": "true", "max-replicas": "4", "metrics": METRICS}
SCALER = {"app.kubernetes.io/name": "keda-kaito-scaler"}
CHECK_FAILED = a_condition("Ready", "False", "ScaledObjectCheckFailed", "no such scale target")
TRIGGER_ERROR = a_condition("Ready", "False", "TriggerError", "Triggers are not working correctly")
NO_METRIC = a_condition(
    "ScalingActive", "False", "FailedGetExternalMetric", "no metrics", LONG_AGO
)


def the_set(scaling=None):
    made = a_set(1, scaling=SCALING if scaling is None else scaling)
    status = type(made.status)(ready_replicas=1)
    return type(made)(metadata=made.metadata, spec=made.spec, status=status)


def verdict(*objects):
    store = a_store(a_team(), *objects)
    return verdict_of("inferencesetScalingMisconfigured", SUBJECT, store)


WARMING = (
    "[{name: time, type: histogram, upthreshold: 3, downthreshold: 1, metriccachewindow: 60}]"
)
UNTIL_WARM = timedelta(seconds=60 + 15 + 15)


@pytest.mark.parametrize(
    "failing",
    [
        [a_scaled_object("qwen", TRIGGER_ERROR, polling=15)],
        [a_scaled_object(polling=15), an_autoscaler(NO_METRIC)],
    ],
    ids=["its triggers", "its autoscaler"],
)
@pytest.mark.parametrize(
    ("model_since", "scaler_since", "warm"),
    [(NOON, LONG_AGO, NOON), (LONG_AGO, NOON, NOON)],
    ids=["the model started", "the scaler started"],
)
def test_without_the_samples_of_a_window_nothing_is_missed(
    failing, model_since, scaler_since, warm
):
    objects = [
        the_set(scaling={**SCALING, "metrics": WARMING}),
        a_model_pod(since=model_since, running=LONG_AGO),
        a_deployment("keda-kaito-scaler", "keda", labels=SCALER),
        a_pod(
            "keda-kaito-scaler-6c9f-x1",
            "keda",
            workload="keda-kaito-scaler",
            since=scaler_since,
            running=LONG_AGO,
        ),
    ]
    found = only_trouble(verdict(*objects, *failing))
    assert found.not_before == warm + UNTIL_WARM
    of_gauges = only_trouble(verdict(the_set(), *objects[1:], *failing))
    assert of_gauges.not_before is None


def test_a_scaler_that_is_out_excuses_nothing():
    out = a_pod(
        "keda-kaito-scaler-6c9f-x1", "keda", workload="keda-kaito-scaler", ready=False, since=NOON
    )
    objects = [
        the_set(scaling={**SCALING, "metrics": WARMING}),
        a_deployment("keda-kaito-scaler", "keda", labels=SCALER, ready=0),
        out,
        a_scaled_object("qwen", TRIGGER_ERROR),
    ]
    assert only_trouble(verdict(*objects)).not_before is None


OWNED = (OwnerReference(kind="InferenceSet", name="qwen", controller=True),)


def test_a_scaled_object_of_the_set_that_scales_something_else_is_named():
    other = a_scaled_object("qwen-scaled", CHECK_FAILED, of="nosuch", owners=OWNED)
    found = verdict(the_set(), other)
    assert (only_trouble(found).cause.code, only_trouble(found).kind) == (
        "WrongTarget",
        TroubleKind.FAILED,
    )
    assert rendered_message(found) == (
        "scaling misconfigured: ScaledObject qwen-scaled of this model scales InferenceSet nosuch"
        " instead of it: no such scale target."
    )
    assert isinstance(verdict(the_set(scaling={}), other), Clear)
    assert isinstance(verdict(the_set(), other, a_scaled_object()), Clear)
