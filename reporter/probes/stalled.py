"""Probe for engines that have requests and make no progress, although their pod is Ready."""

from collections.abc import Mapping
from datetime import timedelta

from reporter.model.sanitize import human_duration
from reporter.probes.engine_check import (
    EngineParameters,
    Pages,
    Seconds,
)
from reporter.probes.engine_probe import EngineProbe
from reporter.probes.engine_troubles import describe_requests
from reporter.resources.engine_rules import STALLED, StallRules, evaluate_stall
from reporter.resources.engine_view import EngineColumns


class StalledParameters(EngineParameters, frozen=True, kw_only=True):
    """The parameters of a stall. *window_seconds*: without progress."""

    window_seconds: Seconds = 120
    min_pages: Pages = 4

    @property
    def kept_pages(self) -> int:
        return int(self.min_pages)


def _rules(columns: EngineColumns, given: StalledParameters, max_gap: float) -> StallRules:
    return StallRules(
        columns,
        window=given.window_seconds,
        min_pages=int(given.min_pages),
        late=max_gap,
    )


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    lasted = human_duration(timedelta(seconds=numbers["lasted"]))
    return f"makes no progress for {lasted}: {describe_requests(numbers)}"


PROBE = EngineProbe(
    name="engine-stalled",
    parameters_type=StalledParameters,
    codes=(STALLED,),
    rules=_rules,
    evaluate_engine=evaluate_stall,
    describe=_describe,
    participle="stalled",
).build()
