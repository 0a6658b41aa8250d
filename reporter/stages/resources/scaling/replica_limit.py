"""Describe whether an InferenceSet can get more replicas."""

from collections.abc import Mapping

from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.kaito.inference_sets import InferenceSet
from reporter.model.kinds.keda.horizontal_pod_autoscalers import (
    HORIZONTAL_POD_AUTOSCALERS,
    HorizontalPodAutoscaler,
)
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS, ScaledObject
from reporter.stages.resources.check_result import check_decoded
from reporter.stages.resources.scaling.annotations import (
    ReplicaLimit,
    find_annotation_problems,
    is_auto_provision_enabled,
    max_replicas_of,
)
from reporter.stages.snapshot.snapshot import Snapshot


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
    if not is_auto_provision_enabled(annotations):
        # Without --sources=keda an autoscaler made by hand would not be seen.
        return has if autoscaler is not None else f"{has}, and no annotation scales it"
    node_limit = inference_set.spec.node_count_limit or 0
    if node_limit:
        # The scaler prefers it to max-replicas; the nodes of a replica are KAITO's choice.
        return f"{has}, and spec.nodeCountLimit allows {node_limit} node{'' if node_limit == 1 else 's'}"
    limit = max_replicas_of(annotations)
    # The scaler ignores invalid annotations, so they limit nothing.
    if limit is None or find_annotation_problems(annotations, ReplicaLimit()):
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
    key = inference_set_key(meta.namespace, meta.name)
    names = [each.status.hpa_name for each in snapshot.by_index(SCALED_OBJECTS, ScaledObject, key)]
    kind = HORIZONTAL_POD_AUTOSCALERS
    found = (
        snapshot.get(kind, HorizontalPodAutoscaler, meta.namespace, name)
        for name in names
        if name and check_decoded(snapshot, kind, meta.namespace, name) is None
    )
    return next((each for each in found if each is not None), None)
