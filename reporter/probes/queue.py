"""Probe for engines whose queue is long and does not get shorter."""

from collections.abc import Mapping
from datetime import timedelta

from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.model.enums import DetailSource
from reporter.model.sanitize import human_duration
from reporter.probes.engine_check import (
    Count,
    EngineParameters,
    Seconds,
    Share,
)
from reporter.probes.engine_probe import EngineProbe
from reporter.probes.probe import ProbeRequest
from reporter.resources.autoscaling import describe_replica_limit
from reporter.resources.engine_rules import GROWING, QueueRules, evaluate_queue
from reporter.resources.engine_view import EngineColumns
from reporter.resources.inference_sets import get_inference_set
from reporter.snapshot.snapshot import Snapshot


class QueueParameters(EngineParameters, frozen=True, kw_only=True):
    """*min_ratio*: requests that wait for each that runs. *end_share*: of both bounds."""

    window_seconds: Seconds = 300
    min_waiting: Count = 10
    min_ratio: Count = 2
    end_share: Share = 0.5
    progress_window_seconds: Seconds = 120


def _rules(columns: EngineColumns, given: QueueParameters, _: float) -> QueueRules:
    return QueueRules(
        columns,
        given.window_seconds,
        given.min_waiting,
        given.min_ratio,
        given.end_share,
        given.progress_window_seconds,
    )


def _describe_limit(snapshot: Snapshot, request: ProbeRequest) -> str:
    inference_set = get_inference_set(snapshot, request.subject)
    if inference_set is None:
        return "its replicas are not known"
    return describe_replica_limit(snapshot, inference_set, request.unwatched)


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = f"{numbers['waiting']:.0f} requests waiting, {numbers['running']:.0f} running"
    return f"has had a long queue for {lasted}: {requests}"


PROBE = EngineProbe(
    name="engine-queue",
    parameters_type=QueueParameters,
    codes=(GROWING,),
    rules=_rules,
    evaluate_engine=evaluate_queue,
    describe=_describe,
    # Looked up only for a message: an autoscaler that cannot be decoded leaves no queue unknown.
    more_fields={"replicas": _describe_limit},
    kinds_by_source={DetailSource.KEDA: (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)},
).build()
