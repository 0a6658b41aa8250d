"""
Describe whether an InferenceSet can get more replicas.
"""

from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.kaito.inference_sets import InferenceSet
from reporter.model.kinds.keda.horizontal_pod_autoscalers import (
    HORIZONTAL_POD_AUTOSCALERS,
    HorizontalPodAutoscaler,
)
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS, ScaledObject
from reporter.stages.resources.conditions import is_condition_true
from reporter.stages.resources.scaling.annotations import (
    is_auto_provision_enabled,
    max_replicas_of,
)
from reporter.stages.snapshot.snapshot import Snapshot


TOO_MANY_REPLICAS = "TooManyReplicas"
"""
The reason of an HPA's condition ScalingLimited while it wants more replicas than its maximum
(kubernetes, pkg/controller/podautoscaler/horizontal.go).
"""


def describe_replica_limit(snapshot: Snapshot, inference_set: InferenceSet) -> str:
    """
    Return the replicas and their limit: the autoscaler's word, else what the annotations ask for.
    """
    replicas = inference_set.desired_replicas
    noun = "replica" if replicas == 1 else "replicas"
    if _is_limited_by_autoscaler(snapshot, inference_set):
        return f"it has {replicas} {noun}, the maximum of its HorizontalPodAutoscaler"
    annotations = inference_set.metadata.annotations or {}
    if not is_auto_provision_enabled(annotations):
        return f"it has {replicas} {noun} and is not scaled automatically"
    limit = max_replicas_of(annotations)
    if limit is None:
        return f"it has {replicas} {noun}"
    return f"it has {replicas} of at most {limit} replicas"


def _is_limited_by_autoscaler(snapshot: Snapshot, inference_set: InferenceSet) -> bool:
    if not snapshot.has_synced(HORIZONTAL_POD_AUTOSCALERS) or not snapshot.has_synced(
        SCALED_OBJECTS
    ):
        return False
    meta = inference_set.metadata
    key = inference_set_key(meta.namespace, meta.name)
    for scaled_object in snapshot.by_index(SCALED_OBJECTS, ScaledObject, key):
        name = scaled_object.status.hpa_name or ""
        autoscaler = snapshot.get(
            HORIZONTAL_POD_AUTOSCALERS, HorizontalPodAutoscaler, meta.namespace, name
        )
        conditions = autoscaler.status.conditions if autoscaler is not None else ()
        limited = find_condition(conditions, "ScalingLimited")
        if limited is not None and is_condition_true(limited):
            return limited.reason == TOO_MANY_REPLICAS
    return False
