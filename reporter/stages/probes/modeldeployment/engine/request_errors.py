"""
Probe for model servers of which many requests fail.
"""

from collections.abc import Iterable, Mapping

from reporter.model.metrics.scrapes import Scrape
from reporter.model.verdicts import EMPTY_MAP, Verdict
from reporter.stages.probes.modeldeployment.engine.engine_check import (
    Count,
    EngineCheck,
    EngineParameters,
    Seconds,
    Share,
    build_scrape,
)
from reporter.stages.probes.modeldeployment.engine.engine_troubles import (
    TroubleText,
    engine_probe_spec,
    evaluate_orthogonal,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.engines.families import engine_columns
from reporter.stages.resources.engines.rates import (
    CORRUPTED,
    FAILING,
    ErrorRules,
    evaluate_errors,
)
from reporter.stages.snapshot.snapshot import Snapshot


class ErrorParameters(EngineParameters, frozen=True, kw_only=True):
    window_seconds: Seconds = 300
    min_requests: Count = 20
    max_share: Share = 0.05


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    text = TroubleText((CORRUPTED, FAILING), _describe, EMPTY_MAP)
    return evaluate_orthogonal(snapshot, request, _check(request.parameters), text)


def _check(parameters: ErrorParameters) -> EngineCheck:
    columns = engine_columns(parameters.families)
    rules = ErrorRules(
        columns, parameters.window_seconds, parameters.min_requests, parameters.max_share
    )
    return EngineCheck(rules, evaluate_errors, (columns.finished, columns.http_requests))


def _scrape(parameters: ErrorParameters, flags: Mapping[str, str]) -> Scrape:
    return build_scrape(_check(parameters), parameters, flags)


def _describe(code: str, numbers: Mapping[str, float]) -> str:
    failed, requests = f"{numbers['failed']:.0f}", f"{numbers['requests']:.0f}"
    if code == CORRUPTED:
        return f"gave corrupted results (not a number) to {failed} of {requests} requests"
    return f"failed {failed} of {requests} requests"


PROBE = Probe(
    engine_probe_spec("engine-errors", ErrorParameters, (CORRUPTED, FAILING), _scrape), evaluate
)
