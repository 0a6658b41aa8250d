"""Probe for engines whose KV cache is full while requests wait."""

from collections.abc import Mapping
from datetime import timedelta

from reporter.model.sanitize import human_duration
from reporter.probes.engine_check import (
    EngineParameters,
    Seconds,
    Share,
)
from reporter.probes.engine_probe import EngineProbe
from reporter.probes.engine_troubles import describe_requests
from reporter.resources.engine_rules import (
    SATURATED,
    SaturationRules,
    evaluate_saturation,
)
from reporter.resources.engine_view import EngineColumns


class SaturationParameters(EngineParameters, frozen=True, kw_only=True):
    """*end_share*: of *min_usage*."""

    window_seconds: Seconds = 300
    min_usage: Share = 0.95
    end_share: Share = 0.9
    progress_window_seconds: Seconds = 120


def _rules(columns: EngineColumns, given: SaturationParameters, _: float) -> SaturationRules:
    return SaturationRules(
        columns,
        given.window_seconds,
        given.min_usage,
        given.end_share,
        given.progress_window_seconds,
    )


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    requests = describe_requests(numbers)
    return f"has had a full KV cache for {lasted} ({numbers['usage']:.0%} now): {requests}"


PROBE = EngineProbe(
    name="engine-kv-cache",
    parameters_type=SaturationParameters,
    codes=(SATURATED,),
    rules=_rules,
    evaluate_engine=evaluate_saturation,
    describe=_describe,
).build()
