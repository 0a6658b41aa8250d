"""
Probe for engines whose queue is long and does not get shorter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from reporter.model.enums import DetailSource
from reporter.model.kinds.keda.horizontal_pod_autoscalers import HORIZONTAL_POD_AUTOSCALERS
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS
from reporter.model.metrics.scrapes import Scrape
from reporter.model.verdicts import Verdict
from reporter.stages.probes.modeldeployment.engine.engine_check import (
    Count,
    EngineCheck,
    EngineParameters,
    Seconds,
    build_scrape,
)
from reporter.stages.probes.modeldeployment.engine.engine_troubles import (
    TroubleText,
    engine_probe_spec,
    engine_results,
    find_pod_engines_of,
    has_trouble,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import to_verdict
from reporter.stages.resources.engines.families import engine_columns
from reporter.stages.resources.engines.pressure import GROWING, QueueRules, evaluate_queue
from reporter.stages.resources.kaito.inference_sets import get_inference_set
from reporter.stages.resources.scaling.replica_limit import describe_replica_limit
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import human_duration


class QueueParameters(EngineParameters, frozen=True, kw_only=True):
    """
    *min_ratio*: requests that wait for each that runs.
    """

    window_seconds: Seconds = 300
    min_waiting: Count = 10
    min_ratio: Count = 2
    progress_window_seconds: Seconds = 120


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    pods = find_pod_engines_of(snapshot, request, _check(request.parameters))
    # Looked up only for a message: an autoscaler that cannot be decoded leaves no queue unknown.
    limit = _describe_limit(snapshot, request) if has_trouble(pods) else ""
    text = TroubleText((GROWING,), _describe, {"replicas": limit})
    return [to_verdict(snapshot, request.key(), engine_results(pods, text))]


def _describe_limit(snapshot: Snapshot, request: ProbeRequest) -> str:
    inference_set = get_inference_set(snapshot, request.subject)
    if inference_set is None:
        return "its replicas are not known"
    return describe_replica_limit(snapshot, inference_set, request.unwatched)


def _check(parameters: QueueParameters) -> EngineCheck:
    columns = engine_columns(parameters.families)
    rules = QueueRules(
        columns,
        parameters.window_seconds,
        parameters.min_waiting,
        parameters.min_ratio,
        parameters.progress_window_seconds,
    )
    return EngineCheck(rules, evaluate_queue, (columns.running, columns.waiting))


def _scrape(parameters: QueueParameters, flags: Mapping[str, str]) -> Scrape:
    return build_scrape(_check(parameters), parameters, flags)


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = f"{numbers['waiting']:.0f} requests waiting, {numbers['running']:.0f} running"
    return f"has had a long queue for {lasted}: {requests}"


PROBE = Probe(
    replace(
        engine_probe_spec("engine-queue", QueueParameters, (GROWING,), _scrape),
        message_fields=frozenset({"place", "pod", "replicas", "state"}),
        kinds_by_source={DetailSource.KEDA: (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)},
    ),
    evaluate,
)
