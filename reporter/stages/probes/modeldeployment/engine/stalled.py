"""
Probe for engines that have requests and make no progress, although their pod is Ready.
"""

from collections.abc import Mapping
from datetime import timedelta

from reporter.stages.probes.modeldeployment.engine.engine_check import (
    EngineParameters,
    Pages,
    Seconds,
)
from reporter.stages.probes.modeldeployment.engine.engine_probe import EngineProbe
from reporter.stages.probes.modeldeployment.engine.engine_troubles import describe_requests
from reporter.stages.resources.engines.families import EngineColumns
from reporter.stages.resources.engines.stall import (
    NO_TRAFFIC,
    STALLED,
    StallRules,
    evaluate_stall,
)
from reporter.stages.text.phrases import human_duration


class StalledParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a stall.

    *window_seconds*: without progress. *no_traffic_window_seconds*: the same while neither the gauges
    of requests nor the counters of traffic move.
    """

    window_seconds: Seconds = 120
    min_pages: Pages = 4
    no_traffic_window_seconds: Seconds = 300

    @property
    def kept_pages(self) -> int:
        return int(self.min_pages)


def _rules(columns: EngineColumns, given: StalledParameters, max_gap: float) -> StallRules:
    return StallRules(
        columns,
        window=given.window_seconds,
        min_pages=int(given.min_pages),
        no_traffic_window=given.no_traffic_window_seconds,
        late=max_gap,
    )


def _describe(code: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = describe_requests(numbers)
    doubt = ", and no new ones are seen: these numbers may be left over from aborted requests"
    return f"makes no progress for {lasted}: {requests}{doubt if code == NO_TRAFFIC else ''}"


PROBE = EngineProbe(
    name="engine-stalled",
    parameters_type=StalledParameters,
    codes=(STALLED, NO_TRAFFIC),
    rules=_rules,
    evaluate_engine=evaluate_stall,
    describe=_describe,
    participle="stalled",
).build()
