"""
Trouble of the ScaledObject and the HorizontalPodAutoscaler that scale an InferenceSet.

KEDA's conditions carry neither a transition time nor a generation (KEDA,
apis/keda/v1alpha1/condition_types.go). Its triggers ask the model for metrics, so a trigger error is
normal until the model is ready.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds import objects
from reporter.kinds.core import PODS, Pod
from reporter.kinds.kaito import InferenceSet
from reporter.kinds.keda import (
    HORIZONTAL_POD_AUTOSCALERS,
    SCALED_OBJECTS,
    HorizontalPodAutoscaler,
    ScaledObject,
)
from reporter.kinds.objects import ApiObject, Condition
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.resources import conditions, scaling_annotations
from reporter.resources.check_result import CheckResult, Inconclusive, check_decoded
from reporter.resources.components import ComponentSpec, locate_component
from reporter.resources.inference_sets import find_model_pods
from reporter.resources.scaling_annotations import ReplicaLimit
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# The time in which keda-kaito-scaler has too few samples of a model, so that KEDA's triggers fail.
#
# It averages histograms over a window, and answers "warming up" until it has watched a Ready model for so
# long; it forgets its samples when it restarts (keda-kaito-scaler, pkg/scaler).


DEFAULT_POLLING_SECONDS = 30
"""KEDA's ``pollingInterval`` of a ScaledObject that sets none."""

AUTOSCALER_SYNC = timedelta(seconds=15)
"""The time between two looks of the HorizontalPodAutoscaler (kube-controller-manager)."""


class ScalerPlace(Struct, frozen=True):
    """The component that is the scaler, with the flags that say where it is."""

    component: ComponentSpec
    flags: Mapping[str, str]


def warm_from(
    snapshot: Snapshot,
    inference_set: InferenceSet,
    scaled_object: ScaledObject,
    place: ScalerPlace,
) -> datetime | None:
    """
    Return when the scaler can have all samples of a model.

    None if it needs no window of them, or no pod of the model or the scaler is Ready.
    """
    meta = inference_set.metadata
    window = scaling_annotations.longest_cache_window(
        (meta.annotations or {}).get(f"{scaling_annotations.ANNOTATION_PREFIX}metrics", "")
    )
    if not window:
        return None
    subject = objects.model_of(inference_set, meta.name)
    pods = (*find_model_pods(snapshot, subject), *_scaler_pods(snapshot, place))
    polling = scaled_object.spec.polling_interval or DEFAULT_POLLING_SECONDS
    started = max(_ready_times(pods), default=None)
    return started and started + window + timedelta(seconds=polling) + AUTOSCALER_SYNC


def _scaler_pods(snapshot: Snapshot, place: ScalerPlace) -> Iterator[Pod]:
    located = locate_component(snapshot, place.component, place.flags)
    for each in located.deployments if located is not None else ():
        key = objects.workload_key(each.metadata.namespace, each.metadata.name)
        yield from snapshot.by_index(PODS, Pod, key)


def _ready_times(pods: Iterable[Pod]) -> Iterator[datetime]:
    """
    Yield when each Ready pod became so, and when its containers started.

    A restart of two seconds may never show in the Ready condition.
    """
    for pod in pods:
        ready = pod.status.condition("Ready")
        if ready is None or ready.status != "True":
            continue
        if ready.last_transition_time is not None:
            yield ready.last_transition_time
        for each in pod.status.container_statuses or ():
            if each.state.running is not None and each.state.running.started_at is not None:
                yield each.state.running.started_at


SCALED_OBJECT_NOT_FOUND, SCALED_OBJECT_REJECTED = "ScaledObjectNotFound", "ScaledObjectRejected"
WRONG_TARGET = "WrongTarget"
TRIGGER_ERROR, METRICS_UNAVAILABLE = "TriggerError", "MetricsUnavailable"
SCALE_FAILED = "ScaleFailed"
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
        SCALED_OBJECTS, ScaledObject, objects.inference_set_key(meta.namespace, meta.name)
    )
    scaled_objects = [each for each in found if each.spec.inference_set == meta.name]
    if not scaled_objects:
        owned = conditions.exclude_deleting(found)
        yield check_decoded(snapshot, SCALED_OBJECTS, meta.namespace, meta.name) or (
            _wrong_target_trouble(owned[0], inference_set)
            if owned
            else _missing_scaled_object_trouble(snapshot, inference_set)
        )
    for each in scaled_objects:
        if not conditions.is_deleting(each) and not _is_paused(each):
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
    if not scaling_annotations.is_auto_provision_enabled(inference_set.metadata.annotations or {}):
        return None
    meta, target = scaled_object.metadata, scaled_object.spec.scale_target_ref
    scales = f"scales {target.kind or 'Deployment'} {target.name}" if target else "has no target"
    ready = objects.find_condition(scaled_object.status.conditions, "Ready")
    is_refused = ready is not None and ready.status == "False"
    return Trouble(
        cause=Cause(SCALED_OBJECTS.ref_to(scaled_object), WRONG_TARGET),
        kind=TroubleKind.FAILED,
        object_created_at=meta.creation_timestamp,
        message_fields={"state": f"ScaledObject {meta.name} of this model {scales} instead of it"},
        foreign_text=(ready.message or "") if ready is not None and is_refused else "",
    )


def _missing_scaled_object_trouble(
    snapshot: Snapshot, inference_set: InferenceSet
) -> Trouble | None:
    meta = inference_set.metadata
    if not scaling_annotations.is_auto_provision_enabled(meta.annotations or {}):
        return None
    ref = SCALED_OBJECTS.ref(meta.namespace, meta.name)
    absence = conditions.absence_of(snapshot, ref)
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
    confirmed = conditions.is_condition_true(
        objects.find_condition(scaled_object.status.conditions, "Paused")
    )
    values = (scaled_object.metadata.annotation(each) for each in PAUSED_ANNOTATIONS)
    return confirmed or any(value not in {None, "false"} for value in values)


def _scaled_object_trouble(
    scaled_object: ScaledObject, inference_set: InferenceSet
) -> Trouble | None:
    ready = objects.find_condition(scaled_object.status.conditions, "Ready")
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
    if undecodable is not None or autoscaler is None or conditions.is_deleting(autoscaler):
        return undecodable
    trouble = _hpa_trouble(autoscaler, inference_set)
    why_unwatched = unwatched.get(HORIZONTAL_POD_AUTOSCALERS.resource)
    return Inconclusive(why_unwatched) if trouble is not None and why_unwatched else trouble


def _hpa_trouble(
    autoscaler: HorizontalPodAutoscaler, inference_set: InferenceSet
) -> Trouble | None:
    able = objects.find_condition(autoscaler.status.conditions, "AbleToScale")
    if able is not None and _is_failing(able):
        return _condition_trouble(
            HORIZONTAL_POD_AUTOSCALERS, autoscaler, SCALE_FAILED, TroubleKind.FAILED, able
        )
    active = objects.find_condition(autoscaler.status.conditions, "ScalingActive")
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
        cause=Cause(resource.ref_to(about), code),
        kind=kind,
        object_created_at=meta.creation_timestamp,
        # None for KEDA's conditions. The object's creation is no substitute: the error may be recent.
        since=condition.last_transition_time,
        message_fields={
            "state": f"{resource.kind} {meta.name} has {conditions.describe_condition(condition)}"
        },
        foreign_text=condition.message or "",
    )


# --------------------------------------------------------------------
# Describe whether an InferenceSet can get more replicas.


def describe_replica_limit(
    snapshot: Snapshot, inference_set: InferenceSet, unwatched: Mapping[str, str]
) -> str:
    """
    Return the replicas and their limit: that of the autoscaler, else what the annotations ask for.

    *unwatched*: kinds whose watch is lost, with why; what they showed before is not used.
    """
    replicas = inference_set.desired_replicas
    has = f"it has {replicas} replica{'' if replicas == 1 else 's'}"
    autoscaler = _find_autoscaler(snapshot, inference_set, unwatched)
    if autoscaler is not None and autoscaler.spec.max_replicas:
        return _compare(has, replicas, autoscaler.spec.max_replicas)
    annotations = inference_set.metadata.annotations or {}
    if not scaling_annotations.is_auto_provision_enabled(annotations):
        # Without --sources=keda an autoscaler made by hand would not be seen.
        return has if autoscaler is not None else f"{has}, and no annotation scales it"
    node_limit = inference_set.spec.node_count_limit or 0
    if node_limit:
        # The scaler prefers it to max-replicas; the nodes of a replica are KAITO's choice.
        return f"{has}, and spec.nodeCountLimit allows {node_limit} node{'' if node_limit == 1 else 's'}"
    limit = scaling_annotations.max_replicas_of(annotations)
    # The scaler ignores invalid annotations, so they limit nothing.
    if limit is None or scaling_annotations.find_annotation_problems(annotations, ReplicaLimit()):
        return has
    return _compare(has, replicas, limit)


def _compare(has: str, replicas: int, limit: int) -> str:
    if replicas < limit:
        return f"it has {replicas} of at most {limit} replicas"
    return f"{has}, the maximum of its autoscaler"


def _find_autoscaler(
    snapshot: Snapshot, inference_set: InferenceSet, unwatched: Mapping[str, str]
) -> HorizontalPodAutoscaler | None:
    """Return the HorizontalPodAutoscaler that KEDA made; None if it is not known."""
    kinds = (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)
    if any(each.resource in unwatched or not snapshot.has_synced(each) for each in kinds):
        return None
    meta = inference_set.metadata
    key = objects.inference_set_key(meta.namespace, meta.name)
    names = [each.status.hpa_name for each in snapshot.by_index(SCALED_OBJECTS, ScaledObject, key)]
    kind = HORIZONTAL_POD_AUTOSCALERS
    found = (
        snapshot.get(kind, HorizontalPodAutoscaler, meta.namespace, name)
        for name in names
        if name and check_decoded(snapshot, kind, meta.namespace, name) is None
    )
    return next((each for each in found if each is not None), None)
