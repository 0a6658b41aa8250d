"""
What KEDA makes of an InferenceSet's scaling annotations, and whether that scales.

KEDA's conditions tell no time and no generation. Its triggers ask the model for metrics, so that
before the model is ready they fail rightly.
"""

from collections.abc import Iterable, Mapping

from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import AUTOSCALERS, SCALED_OBJECTS, ResourceKind
from reporter.model.objects import ApiObject, Condition, condition
from reporter.model.scaling_objects import HorizontalPodAutoscaler, ScaledObject
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.model.words import Kind
from reporter.stages.conditions import named
from reporter.stages.deployments import Stale
from reporter.stages.indexes import by_model
from reporter.stages.nodes import holds
from reporter.stages.ruling import Found, undecoded
from reporter.stages.scaling import is_asked_for
from reporter.stages.snapshot import Snapshot


NOT_FOUND, REJECTED = "ScaledObjectNotFound", "ScaledObjectRejected"
TRIGGERS, NO_METRICS, NO_SCALE = "TriggerError", "MetricsUnavailable", "ScaleFailed"
CODES = frozenset({NOT_FOUND, REJECTED, TRIGGERS, NO_METRICS, NO_SCALE})
PAUSED = ("autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-replicas")
NO_ERROR = frozenset({"ScalingDisabled", "BackoffBoth", "BackoffDownscale", "BackoffUpscale"})
"""
Why an autoscaler rests: there are zero replicas, or it has just scaled.
"""


def troubles(
    snapshot: Snapshot, scaled: InferenceSet, unwatched: Mapping[str, str]
) -> Iterable[Found | None]:
    """
    *unwatched*: kinds that are only as they were last seen, with why.
    """
    if not snapshot.sees(SCALED_OBJECTS):
        return
    meta = scaled.metadata
    made = snapshot.find(SCALED_OBJECTS, ScaledObject, by_model(meta.namespace, meta.name))
    if not made:
        yield undecoded(snapshot, SCALED_OBJECTS, meta.namespace, meta.name) or _missing(
            snapshot, scaled
        )
    for each in made:
        rests = each.metadata.deletion_timestamp is not None or _is_paused(each)
        if not rests:
            yield _rejected(each, scaled) or _of_autoscaler(snapshot, each, scaled, unwatched)


def _missing(snapshot: Snapshot, scaled: InferenceSet) -> Trouble | None:
    meta = scaled.metadata
    if not is_asked_for(meta.annotations or {}):
        return None
    ref = ObjectRef(SCALED_OBJECTS.qualified, meta.namespace, meta.name)
    seen = ref in snapshot.gone
    lacks = "was deleted, and not made again" if seen else "does not exist"
    state = f"ScaledObject {meta.name} {lacks}, although auto-provision asks for it"
    return Trouble(
        cause=Cause(ref, NOT_FOUND),
        kind=Kind.LOST if seen else Kind.STARTING,
        fields={"state": state},
    )


def _is_paused(made: ScaledObject) -> bool:
    """
    By its annotations, or as KEDA says.
    """
    stated = holds(condition(made.status.conditions, "Paused"))
    values = (made.metadata.annotation(each) for each in PAUSED)
    return stated or any(value not in {None, "false"} for value in values)


def _rejected(made: ScaledObject, scaled: InferenceSet) -> Trouble | None:
    ready = condition(made.status.conditions, "Ready")
    if ready is None or ready.status != "False":
        return None
    if ready.reason == TRIGGERS:
        lasts = _serves(scaled)
        return _trouble(SCALED_OBJECTS, made, TRIGGERS, Kind.LOST, ready) if lasts else None
    return _trouble(SCALED_OBJECTS, made, REJECTED, Kind.FAILED, ready)


def _serves(scaled: InferenceSet) -> bool:
    """
    Whether every replica can be asked for metrics.
    """
    return 0 < scaled.desired <= scaled.status.ready_replicas


def _of_autoscaler(
    snapshot: Snapshot, made: ScaledObject, scaled: InferenceSet, unwatched: Mapping[str, str]
) -> Found | None:
    name, namespace = made.status.hpa_name or "", made.metadata.namespace
    if not name or not snapshot.sees(AUTOSCALERS):
        return None
    blind = undecoded(snapshot, AUTOSCALERS, namespace, name)
    found = snapshot.get(AUTOSCALERS, HorizontalPodAutoscaler, namespace, name)
    if blind is not None or found is None or found.metadata.deletion_timestamp is not None:
        return blind
    trouble = _stated(found, scaled)
    old = unwatched.get(AUTOSCALERS.resource)
    return Stale(old) if trouble is not None and old else trouble


def _stated(found: HorizontalPodAutoscaler, scaled: InferenceSet) -> Trouble | None:
    able = condition(found.status.conditions, "AbleToScale")
    if able is not None and _fails(able):
        return _trouble(AUTOSCALERS, found, NO_SCALE, Kind.FAILED, able)
    active = condition(found.status.conditions, "ScalingActive")
    if active is not None and _fails(active) and _serves(scaled):
        return _trouble(AUTOSCALERS, found, NO_METRICS, Kind.LOST, active)
    return None


def _fails(found: Condition) -> bool:
    return found.status == "False" and found.reason not in NO_ERROR


def _trouble(
    kind: ResourceKind, about: ApiObject, code: str, why: Kind, stated: Condition
) -> Trouble:
    meta = about.metadata
    said = f"{stated.type}={stated.status} ({named(stated)})"
    return Trouble(
        cause=Cause(ObjectRef(kind.qualified, meta.namespace, meta.name), code),
        kind=why,
        born=meta.creation_timestamp,
        since=stated.last_transition_time,
        fields={"state": f"{kind.kind} {meta.name} has {said}"},
        foreign=stated.message or "",
    )
