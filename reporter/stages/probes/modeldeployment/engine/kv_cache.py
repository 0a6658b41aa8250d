"""
Probe for engines whose KV cache is full while requests wait.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from reporter.model.metrics.scrapes import Scrape
from reporter.model.verdicts import EMPTY_MAP, Verdict
from reporter.stages.probes.modeldeployment.engine.engine_check import (
    EngineCheck,
    EngineParameters,
    Seconds,
    Share,
    build_scrape,
)
from reporter.stages.probes.modeldeployment.engine.engine_troubles import (
    TroubleText,
    describe_requests,
    engine_probe_spec,
    evaluate_orthogonal,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.engines.families import engine_columns
from reporter.stages.resources.engines.pressure import (
    SATURATED,
    SaturationRules,
    evaluate_saturation,
)
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import human_duration


class SaturationParameters(EngineParameters, frozen=True, kw_only=True):
    window_seconds: Seconds = 300
    min_usage: Share = 0.95
    progress_window_seconds: Seconds = 120


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    text = TroubleText((SATURATED,), _describe, EMPTY_MAP)
    return evaluate_orthogonal(snapshot, request, _check(request.parameters), text)


def _check(parameters: SaturationParameters) -> EngineCheck:
    columns = engine_columns(parameters.families)
    rules = SaturationRules(
        columns,
        parameters.window_seconds,
        parameters.min_usage,
        parameters.progress_window_seconds,
    )
    return EngineCheck(rules, evaluate_saturation, (columns.running, columns.waiting))


def _scrape(parameters: SaturationParameters, flags: Mapping[str, str]) -> Scrape:
    return build_scrape(_check(parameters), parameters, flags)


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = describe_requests(numbers)
    return f"has had a full KV cache for {lasted} ({numbers['usage']:.0%} now): {requests}"


PROBE = Probe(
    engine_probe_spec("engine-kv-cache", SaturationParameters, (SATURATED,), _scrape), evaluate
)
