"""
Probe for engines that have requests and make no progress, although their pod is Ready.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from reporter.model.metrics.scrapes import Scrape
from reporter.model.verdicts import Verdict
from reporter.stages.probes.modeldeployment.engine.engine_check import (
    Count,
    EngineCheck,
    EngineParameters,
    Seconds,
    build_scrape,
    max_gap,
)
from reporter.stages.probes.modeldeployment.engine.engine_troubles import (
    Extent,
    TroubleText,
    describe_requests,
    engine_probe_spec,
    engine_results,
    find_pod_engines_of,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import to_verdict
from reporter.stages.resources.engines.families import engine_columns
from reporter.stages.resources.engines.stall import (
    NO_TRAFFIC,
    STALLED,
    StallRules,
    evaluate_stall,
)
from reporter.stages.resources.kaito.inference_sets import get_inference_set
from reporter.stages.resources.kaito.replicas import DEGRADED
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import human_duration


class StalledParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a stall.

    *window_seconds*: without progress. *no_traffic_window_seconds*: the same while neither the gauges
    of requests nor the counters of traffic move.
    """

    window_seconds: Seconds = 120
    min_pages: Count = 4
    no_traffic_window_seconds: Seconds = 300


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    parameters: StalledParameters = request.parameters
    pods = find_pod_engines_of(snapshot, request, _check(parameters, request.flags))
    inference_set = get_inference_set(snapshot, request.subject)
    extent = Extent.of(pods, wanted=inference_set.desired_replicas if inference_set else 1)
    fields = {"extent": extent.describe("stalled")}
    text = TroubleText((STALLED, NO_TRAFFIC), _describe, fields)
    return [to_verdict(snapshot, request.key(), engine_results(pods, text, extent))]


def _check(parameters: StalledParameters, flags: Mapping[str, str]) -> EngineCheck:
    columns = engine_columns(parameters.families)
    rules = StallRules(
        columns,
        window=parameters.window_seconds,
        min_pages=int(parameters.min_pages),
        no_traffic_window=parameters.no_traffic_window_seconds,
        late=max_gap(parameters, flags).total_seconds(),
    )
    return EngineCheck(rules, evaluate_stall, (columns.running, columns.waiting))


def _scrape(parameters: StalledParameters, flags: Mapping[str, str]) -> Scrape:
    pages = int(parameters.min_pages)
    return build_scrape(_check(parameters, flags), parameters, flags, pages=pages)


def _describe(code: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = describe_requests(numbers)
    doubt = ", and no new ones are seen: these numbers may be left over from aborted requests"
    return f"makes no progress for {lasted}: {requests}{doubt if code == NO_TRAFFIC else ''}"


PROBE = Probe(
    replace(
        engine_probe_spec(
            "engine-stalled", StalledParameters, (DEGRADED, STALLED, NO_TRAFFIC), _scrape
        ),
        message_fields=frozenset({"extent", "place", "pod", "state"}),
    ),
    evaluate,
)
