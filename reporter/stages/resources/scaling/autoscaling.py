"""
Trouble of the ScaledObject and the HorizontalPodAutoscaler that scale an InferenceSet.

KEDA's conditions carry neither a transition time nor a generation (KEDA,
apis/keda/v1alpha1/condition_types.go). Its triggers ask the model for metrics, so a trigger error is
normal until the model is ready.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.kaito.inference_sets import InferenceSet
from reporter.model.kinds.keda.horizontal_pod_autoscalers import (
    HORIZONTAL_POD_AUTOSCALERS,
    HorizontalPodAutoscaler,
)
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS, ScaledObject
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult, Inconclusive, check_decoded
from reporter.stages.resources.conditions import describe_condition, is_condition_true
from reporter.stages.resources.existence import absence_of, exclude_deleting, is_deleting
from reporter.stages.resources.scaling.annotations import is_auto_provision_enabled
from reporter.stages.resources.scaling.warm_up import ScalerPlace, warm_from
from reporter.stages.snapshot.snapshot import Snapshot


SCALED_OBJECT_NOT_FOUND, SCALED_OBJECT_REJECTED = "ScaledObjectNotFound", "ScaledObjectRejected"
WRONG_TARGET = "WrongTarget"
TRIGGER_ERROR, METRICS_UNAVAILABLE, SCALE_FAILED = (
    "TriggerError",
    "MetricsUnavailable",
    "ScaleFailed",
)
AUTOSCALING_CODES = frozenset(
    {
        SCALED_OBJECT_NOT_FOUND,
        SCALED_OBJECT_REJECTED,
        WRONG_TARGET,
        TRIGGER_ERROR,
        METRICS_UNAVAILABLE,
        SCALE_FAILED,
    }
)
WITHOUT_METRICS_CODES = frozenset({TRIGGER_ERROR, METRICS_UNAVAILABLE})
PAUSED_ANNOTATIONS = ("autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-replicas")
BENIGN_REASONS = frozenset(
    {"ScalingDisabled", "BackoffBoth", "BackoffDownscale", "BackoffUpscale"}
)
"""
Reasons of an HPA's False conditions that are normal: zero replicas, or a scaling just before.
"""


def find_autoscaling_troubles(
    snapshot: Snapshot,
    inference_set: InferenceSet,
    unwatched: Mapping[str, str],
    scaler: ScalerPlace,
) -> Iterable[CheckResult | None]:
    """
    Check what scales an InferenceSet; nothing if ScaledObjects are not watched.

    *unwatched*: kinds whose watch is lost, with why.
    """
    if not snapshot.has_synced(SCALED_OBJECTS):
        return
    meta = inference_set.metadata
    found = snapshot.by_index(
        SCALED_OBJECTS, ScaledObject, inference_set_key(meta.namespace, meta.name)
    )
    scaled_objects = [each for each in found if each.spec.inference_set == meta.name]
    if not scaled_objects:
        owned = exclude_deleting(found)
        yield check_decoded(snapshot, SCALED_OBJECTS, meta.namespace, meta.name) or (
            _wrong_target_trouble(owned[0], inference_set)
            if owned
            else _missing_scaled_object_trouble(snapshot, inference_set)
        )
    for each in scaled_objects:
        if not is_deleting(each) and not _is_paused(each):
            result = _scaled_object_trouble(each, inference_set) or _autoscaler_trouble(
                snapshot, each, inference_set, unwatched
            )
            if isinstance(result, Trouble) and result.cause.code in WITHOUT_METRICS_CODES:
                warm = warm_from(snapshot, inference_set, each, scaler)
                result = replace(result, not_before=warm)
            yield result


def _wrong_target_trouble(
    scaled_object: ScaledObject, inference_set: InferenceSet
) -> Trouble | None:
    """
    Return the trouble of a ScaledObject that belongs to an InferenceSet and scales something else.

    keda-kaito-scaler does not set its target right again.
    """
    if not is_auto_provision_enabled(inference_set.metadata.annotations or {}):
        return None
    meta, target = scaled_object.metadata, scaled_object.spec.scale_target_ref
    scales = f"scales {target.kind or 'Deployment'} {target.name}" if target else "has no target"
    ready = find_condition(scaled_object.status.conditions, "Ready")
    is_refused = ready is not None and ready.status == "False"
    return Trouble(
        cause=Cause(
            ObjectRef(SCALED_OBJECTS.group_resource, meta.namespace, meta.name), WRONG_TARGET
        ),
        kind=TroubleKind.FAILED,
        object_created_at=meta.creation_timestamp,
        message_fields={"state": f"ScaledObject {meta.name} of this model {scales} instead of it"},
        foreign_text=(ready.message or "") if ready is not None and is_refused else "",
    )


def _missing_scaled_object_trouble(
    snapshot: Snapshot, inference_set: InferenceSet
) -> Trouble | None:
    meta = inference_set.metadata
    if not is_auto_provision_enabled(meta.annotations or {}):
        return None
    ref = ObjectRef(SCALED_OBJECTS.group_resource, meta.namespace, meta.name)
    absence = absence_of(snapshot, ref)
    lacks = "was deleted, and not made again" if absence.was_deleted else "does not exist"
    state = f"ScaledObject {meta.name} {lacks}, although auto-provision asks for it"
    return Trouble(
        cause=Cause(ref, SCALED_OBJECT_NOT_FOUND),
        # Not DECLARED: the scaler needs a moment to create it.
        kind=TroubleKind.LOST if absence.was_deleted else TroubleKind.STARTING,
        message_fields={"state": state},
    )


def _is_paused(scaled_object: ScaledObject) -> bool:
    """
    Return whether a user paused the scaling, by annotation or as KEDA's Paused condition confirms.
    """
    confirmed = is_condition_true(find_condition(scaled_object.status.conditions, "Paused"))
    values = (scaled_object.metadata.annotation(each) for each in PAUSED_ANNOTATIONS)
    return confirmed or any(value not in {None, "false"} for value in values)


def _scaled_object_trouble(
    scaled_object: ScaledObject, inference_set: InferenceSet
) -> Trouble | None:
    ready = find_condition(scaled_object.status.conditions, "Ready")
    if ready is None or ready.status != "False":
        return None
    if ready.reason != TRIGGER_ERROR:
        return _condition_trouble(
            SCALED_OBJECTS, scaled_object, SCALED_OBJECT_REJECTED, TroubleKind.FAILED, ready
        )
    if not _all_replicas_ready(inference_set):
        return None
    return _condition_trouble(
        SCALED_OBJECTS, scaled_object, TRIGGER_ERROR, TroubleKind.LOST, ready
    )


def _all_replicas_ready(inference_set: InferenceSet) -> bool:
    """Return whether every replica can answer a request for metrics."""
    return 0 < inference_set.desired_replicas <= inference_set.status.ready_replicas


def _autoscaler_trouble(
    snapshot: Snapshot,
    scaled_object: ScaledObject,
    inference_set: InferenceSet,
    unwatched: Mapping[str, str],
) -> CheckResult | None:
    name, namespace = scaled_object.status.hpa_name or "", scaled_object.metadata.namespace
    if not name or not snapshot.has_synced(HORIZONTAL_POD_AUTOSCALERS):
        return None
    undecodable = check_decoded(snapshot, HORIZONTAL_POD_AUTOSCALERS, namespace, name)
    autoscaler = snapshot.get(HORIZONTAL_POD_AUTOSCALERS, HorizontalPodAutoscaler, namespace, name)
    if undecodable is not None or autoscaler is None or is_deleting(autoscaler):
        return undecodable
    trouble = _hpa_trouble(autoscaler, inference_set)
    why_unwatched = unwatched.get(HORIZONTAL_POD_AUTOSCALERS.resource)
    return Inconclusive(why_unwatched) if trouble is not None and why_unwatched else trouble


def _hpa_trouble(
    autoscaler: HorizontalPodAutoscaler, inference_set: InferenceSet
) -> Trouble | None:
    able = find_condition(autoscaler.status.conditions, "AbleToScale")
    if able is not None and _is_failing(able):
        return _condition_trouble(
            HORIZONTAL_POD_AUTOSCALERS, autoscaler, SCALE_FAILED, TroubleKind.FAILED, able
        )
    active = find_condition(autoscaler.status.conditions, "ScalingActive")
    if active is not None and _is_failing(active) and _all_replicas_ready(inference_set):
        return _condition_trouble(
            HORIZONTAL_POD_AUTOSCALERS, autoscaler, METRICS_UNAVAILABLE, TroubleKind.LOST, active
        )
    return None


def _is_failing(condition: Condition) -> bool:
    return condition.status == "False" and condition.reason not in BENIGN_REASONS


def _condition_trouble(
    resource: ResourceKind,
    about: ApiObject,
    code: str,
    kind: TroubleKind,
    condition: Condition,
) -> Trouble:
    meta = about.metadata
    return Trouble(
        cause=Cause(ObjectRef(resource.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        object_created_at=meta.creation_timestamp,
        # None for KEDA's conditions. The object's creation is no substitute: the error may be recent.
        since=condition.last_transition_time,
        message_fields={
            "state": f"{resource.kind} {meta.name} has {describe_condition(condition)}"
        },
        foreign_text=condition.message or "",
    )
