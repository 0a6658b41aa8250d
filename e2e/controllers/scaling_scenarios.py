"""The scenarios of a model that KEDA scales, and what an operator must read about each."""

import time
from collections.abc import Callable

from e2e.controllers import programs
from e2e.controllers.keda import Scaler, scaled_object
from e2e.controllers.model import GAUGE, HISTOGRAM, Model, ModelSpec
from e2e.controllers.scenarios import READY, Act, Scenario
from e2e.controlplane import Json, until


SCALING = "inferencesetScalingMisconfigured"
WITH_KEDA = (programs.KAITO, programs.KEDA)
WITHIN = 90
"""Seconds until KEDA has asked the scaler some times, and the autoscaler KEDA."""

ASKED_AGAIN = 40
"""Seconds in which KEDA asks twice more."""


def installed(model: Model) -> None:
    """Install a model and its ScaledObject, and wait until both scale."""
    _install(model, GAUGE)
    scaler_answers(model)


def warming_up(model: Model) -> None:
    """Install a model for which the scaler has no answer until it has samples enough."""
    _scaler(model).fails = True
    _install(model, HISTOGRAM)
    _until_condition(model, "Ready", "False")
    time.sleep(ASKED_AGAIN)


def _install(model: Model, metrics: str) -> None:
    model.install(ModelSpec(metrics=metrics))
    model.until_ready()
    made = scaled_object(model.inference_set(), _scaler(model).url)
    model.client.create(model.client.collection(made), made)


def scaler_fails(model: Model) -> None:
    _scaler(model).fails = True
    _until_condition(model, "Ready", "False")


def scaler_answers(model: Model) -> None:
    _scaler(model).fails = False
    _until_condition(model, "Ready", "True")
    until(lambda: _autoscaler_is_active(model), within=WITHIN, what="the autoscaler gets metrics")


def targets(name: str, ready: str) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.client.patch(_path(model), {"spec": {"scaleTargetRef": {"name": name}}})
        _until_condition(model, "Ready", ready)

    return do


def annotated(value: str | None, paused: str) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        annotations = {"autoscaling.keda.sh/paused": value}
        model.client.patch(_path(model), {"metadata": {"annotations": annotations}})
        _until_condition(model, "Paused", paused)

    return do


def _scaler(model: Model) -> Scaler:
    assert model.scaler is not None, "a model of this scenario has a scaler"
    return model.scaler


def _path(model: Model) -> str:
    return f"/apis/keda.sh/v1alpha1/namespaces/{model.namespace}/scaledobjects/qwen"


def _until_condition(model: Model, kind: str, status: str) -> None:
    def found() -> bool:
        return _conditions(model.client.get(_path(model))).get(kind) == status

    until(found, within=WITHIN, what=f"{kind} of the ScaledObject is {status}")


def _autoscaler_is_active(model: Model) -> bool:
    path = f"/apis/autoscaling/v2/namespaces/{model.namespace}/horizontalpodautoscalers"
    found = model.client.list(path)
    return bool(found) and _conditions(found[0]).get("ScalingActive") == "True"


def _conditions(manifest: Json) -> dict[str, str]:
    found = manifest.get("status", {}).get("conditions") or []
    return {each["type"]: each["status"] for each in found}


SCENARIOS = (
    Scenario(
        "keda-scaler-fails",
        "The scaler of a model that serves has no answer for KEDA, and then has one again.",
        (SCALING,),
        (
            Act("1m", "the chart is installed", installed),
            Act("20m", "the scaler has no answer", scaler_fails, (SCALING, "TriggerError")),
            Act("30m", "it answers", scaler_answers, (READY, "")),
        ),
        WITH_KEDA,
        "keda",
    ),
    Scenario(
        "keda-scaler-warms-up",
        "The scaler averages over five minutes, and has no answer for KEDA for so long after a model's start.",
        (SCALING,),
        (
            Act("1m", "the chart is installed", warming_up),
            Act("6m", "the scaler has its samples", scaler_answers),
        ),
        WITH_KEDA,
        "keda",
    ),
    Scenario(
        "keda-wrong-target",
        "Somebody changes the target of a ScaledObject, and it is announced what it scales instead.",
        (SCALING,),
        (
            Act("1m", "the chart is installed", installed),
            Act(
                "20m",
                "its target is a model that there is not",
                targets("nosuch", "False"),
                (SCALING, "nosuch"),
            ),
            Act("30m", "it is corrected", targets("qwen", "True"), (READY, "")),
        ),
        WITH_KEDA,
        "keda",
    ),
    Scenario(
        "keda-paused",
        "A ScaledObject that somebody pauses, and one that goes on, are no trouble.",
        (SCALING,),
        (
            Act("1m", "the chart is installed", installed),
            Act("20m", "it is paused", annotated("true", "True")),
            Act("30m", "it goes on", annotated(None, "False")),
        ),
        WITH_KEDA,
        "keda",
    ),
)
