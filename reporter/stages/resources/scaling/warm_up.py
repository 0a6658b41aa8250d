"""
The time in which keda-kaito-scaler has too few samples of a model, so that KEDA's triggers fail.

It averages histograms over a window, and answers "warming up" until it has watched a Ready model for so
long; it forgets its samples when it restarts (keda-kaito-scaler, pkg/scaler).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from reporter.model.kinds.base.keys import workload_key
from reporter.model.kinds.base.ownership import model_of
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.inference_sets import InferenceSet
from reporter.model.kinds.keda.scaled_objects import ScaledObject
from reporter.stages.resources.kaito.inference_sets import find_model_pods
from reporter.stages.resources.scaling.annotations import ANNOTATION_PREFIX
from reporter.stages.resources.scaling.metrics_annotation import longest_cache_window
from reporter.stages.resources.workloads.components import ComponentSpec, locate_component
from reporter.stages.snapshot.snapshot import Snapshot


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
    Return when the scaler can have all samples of a model; None if it needs no window of them.
    """
    meta = inference_set.metadata
    window = longest_cache_window((meta.annotations or {}).get(f"{ANNOTATION_PREFIX}metrics", ""))
    if not window:
        return None
    subject = model_of(inference_set, meta.name)
    pods = (*find_model_pods(snapshot, subject), *_scaler_pods(snapshot, place))
    polling = scaled_object.spec.polling_interval or DEFAULT_POLLING_SECONDS
    started = max(_ready_times(pods), default=None)
    return started and started + window + timedelta(seconds=polling) + AUTOSCALER_SYNC


def _scaler_pods(snapshot: Snapshot, place: ScalerPlace) -> Iterator[Pod]:
    located = locate_component(snapshot, place.component, place.flags)
    for each in located.deployments if located is not None else ():
        key = workload_key(each.metadata.namespace, each.metadata.name)
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
