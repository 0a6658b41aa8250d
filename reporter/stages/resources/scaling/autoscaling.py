"""
What KEDA makes of an InferenceSet's scaling annotations, and whether that scales.

KEDA's conditions tell no time and no generation. Its triggers ask the model for metrics, so that
before the model is ready they fail rightly.
"""

from collections.abc import Iterable, Mapping

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
from reporter.stages.resources.check_result import CheckResult, check_decoded
from reporter.stages.resources.conditions import reason_text
from reporter.stages.resources.kaito.nodes import is_condition_true
from reporter.stages.resources.scaling.annotations import is_auto_provision_enabled
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot


SCALED_OBJECT_NOT_FOUND, SCALED_OBJECT_REJECTED = "ScaledObjectNotFound", "ScaledObjectRejected"
TRIGGER_ERROR, METRICS_UNAVAILABLE, SCALE_FAILED = (
    "TriggerError",
    "MetricsUnavailable",
    "ScaleFailed",
)
AUTOSCALING_CODES = frozenset(
    {
        SCALED_OBJECT_NOT_FOUND,
        SCALED_OBJECT_REJECTED,
        TRIGGER_ERROR,
        METRICS_UNAVAILABLE,
        SCALE_FAILED,
    }
)
PAUSED_ANNOTATIONS = ("autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-replicas")
BENIGN_REASONS = frozenset(
    {"ScalingDisabled", "BackoffBoth", "BackoffDownscale", "BackoffUpscale"}
)
"""
Why an autoscaler rests: there are zero replicas, or it has just scaled.
"""


def find_autoscaling_troubles(
    snapshot: Snapshot, scaled: InferenceSet, unwatched: Mapping[str, str]
) -> Iterable[CheckResult | None]:
    """
    *unwatched*: kinds that are only as they were last seen, with why.
    """
    if not snapshot.has_synced(SCALED_OBJECTS):
        return
    meta = scaled.metadata
    made = snapshot.by_index(
        SCALED_OBJECTS, ScaledObject, inference_set_key(meta.namespace, meta.name)
    )
    if not made:
        yield check_decoded(
            snapshot, SCALED_OBJECTS, meta.namespace, meta.name
        ) or _missing_scaled_object_trouble(snapshot, scaled)
    for each in made:
        rests = each.metadata.deletion_timestamp is not None or _is_paused(each)
        if not rests:
            yield _scaled_object_trouble(each, scaled) or _autoscaler_trouble(
                snapshot, each, scaled, unwatched
            )


def _missing_scaled_object_trouble(snapshot: Snapshot, scaled: InferenceSet) -> Trouble | None:
    meta = scaled.metadata
    if not is_auto_provision_enabled(meta.annotations or {}):
        return None
    ref = ObjectRef(SCALED_OBJECTS.group_resource, meta.namespace, meta.name)
    seen = ref in snapshot.deleted_uids
    lacks = "was deleted, and not made again" if seen else "does not exist"
    state = f"ScaledObject {meta.name} {lacks}, although auto-provision asks for it"
    return Trouble(
        cause=Cause(ref, SCALED_OBJECT_NOT_FOUND),
        kind=TroubleKind.LOST if seen else TroubleKind.STARTING,
        message_fields={"state": state},
    )


def _is_paused(made: ScaledObject) -> bool:
    """
    By its annotations, or as KEDA says.
    """
    stated = is_condition_true(find_condition(made.status.conditions, "Paused"))
    values = (made.metadata.annotation(each) for each in PAUSED_ANNOTATIONS)
    return stated or any(value not in {None, "false"} for value in values)


def _scaled_object_trouble(made: ScaledObject, scaled: InferenceSet) -> Trouble | None:
    ready = find_condition(made.status.conditions, "Ready")
    if ready is None or ready.status != "False":
        return None
    if ready.reason == TRIGGER_ERROR:
        lasts = _all_replicas_ready(scaled)
        return (
            _new_trouble(SCALED_OBJECTS, made, TRIGGER_ERROR, TroubleKind.LOST, ready)
            if lasts
            else None
        )
    return _new_trouble(SCALED_OBJECTS, made, SCALED_OBJECT_REJECTED, TroubleKind.FAILED, ready)


def _all_replicas_ready(scaled: InferenceSet) -> bool:
    """
    Whether every replica can be asked for metrics.
    """
    return 0 < scaled.desired_replicas <= scaled.status.ready_replicas


def _autoscaler_trouble(
    snapshot: Snapshot, made: ScaledObject, scaled: InferenceSet, unwatched: Mapping[str, str]
) -> CheckResult | None:
    name, namespace = made.status.hpa_name or "", made.metadata.namespace
    if not name or not snapshot.has_synced(HORIZONTAL_POD_AUTOSCALERS):
        return None
    blind = check_decoded(snapshot, HORIZONTAL_POD_AUTOSCALERS, namespace, name)
    found = snapshot.get(HORIZONTAL_POD_AUTOSCALERS, HorizontalPodAutoscaler, namespace, name)
    if blind is not None or found is None or found.metadata.deletion_timestamp is not None:
        return blind
    trouble = _condition_trouble(found, scaled)
    old = unwatched.get(HORIZONTAL_POD_AUTOSCALERS.resource)
    return Inconclusive(old) if trouble is not None and old else trouble


def _condition_trouble(found: HorizontalPodAutoscaler, scaled: InferenceSet) -> Trouble | None:
    able = find_condition(found.status.conditions, "AbleToScale")
    if able is not None and _is_failing(able):
        return _new_trouble(
            HORIZONTAL_POD_AUTOSCALERS, found, SCALE_FAILED, TroubleKind.FAILED, able
        )
    active = find_condition(found.status.conditions, "ScalingActive")
    if active is not None and _is_failing(active) and _all_replicas_ready(scaled):
        return _new_trouble(
            HORIZONTAL_POD_AUTOSCALERS, found, METRICS_UNAVAILABLE, TroubleKind.LOST, active
        )
    return None


def _is_failing(found: Condition) -> bool:
    return found.status == "False" and found.reason not in BENIGN_REASONS


def _new_trouble(
    kind: ResourceKind, about: ApiObject, code: str, why: TroubleKind, stated: Condition
) -> Trouble:
    meta = about.metadata
    said = f"{stated.type}={stated.status} ({reason_text(stated)})"
    return Trouble(
        cause=Cause(ObjectRef(kind.group_resource, meta.namespace, meta.name), code),
        kind=why,
        object_created_at=meta.creation_timestamp,
        since=stated.last_transition_time,
        message_fields={"state": f"{kind.kind} {meta.name} has {said}"},
        foreign_text=stated.message or "",
    )
