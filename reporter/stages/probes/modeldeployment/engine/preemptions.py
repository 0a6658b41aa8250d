"""
Probe for engines that preempt a large part of their requests.
"""

from collections.abc import Iterable, Mapping

from reporter.model.metrics.scrapes import Scrape
from reporter.model.verdicts import EMPTY_MAP, Verdict
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
    evaluate_orthogonal,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.engines.families import engine_columns
from reporter.stages.resources.engines.rates import (
    PREEMPTING,
    PreemptionRules,
    evaluate_preemptions,
)
from reporter.stages.snapshot.snapshot import Snapshot


class PreemptionParameters(EngineParameters, frozen=True, kw_only=True):
    """
    *max_share*: preemptions of finished requests; above 1 if a request is preempted more than once.
    """

    window_seconds: Seconds = 300
    min_requests: Count = 10
    max_share: Count = 0.2


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    text = TroubleText((PREEMPTING,), _describe, EMPTY_MAP)
    return evaluate_orthogonal(snapshot, request, _check(request.parameters), text)


def _check(parameters: PreemptionParameters) -> EngineCheck:
    columns = engine_columns(parameters.families)
    rules = PreemptionRules(
        columns, parameters.window_seconds, parameters.min_requests, parameters.max_share
    )
    return EngineCheck(rules, evaluate_preemptions, (columns.running, columns.waiting))


def _scrape(parameters: PreemptionParameters, flags: Mapping[str, str]) -> Scrape:
    return build_scrape(_check(parameters), parameters, flags)


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    finished = f"{numbers['finished']:.0f} requests finished"
    return f"preempted requests {numbers['preempted']:.0f} times while {finished}"


PROBE = Probe(
    engine_probe_spec("engine-preemptions", PreemptionParameters, (PREEMPTING,), _scrape), evaluate
)
