"""Probe for engines that preempt a large part of their requests."""

from collections.abc import Mapping

from reporter.probes.engine_check import (
    Count,
    EngineParameters,
    Seconds,
)
from reporter.probes.engine_probe import EngineProbe
from reporter.resources.engine_rules import (
    PREEMPTING,
    PreemptionRules,
    evaluate_preemptions,
)
from reporter.resources.engine_view import EngineColumns


class PreemptionParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a storm.

    *min_requests*, *min_preemptions*: one of these is enough. *max_share*: preemptions of finished
    requests; above 1 if a request is preempted more than once.
    """

    window_seconds: Seconds = 300
    min_requests: Count = 10
    min_preemptions: Count = 30
    max_share: Count = 0.2

    @property
    def kept_pages(self) -> int:
        """
        The pages at the ends of both halves of the window, which may be read less often than that.
        """
        return 3


def _rules(columns: EngineColumns, given: PreemptionParameters, _: float) -> PreemptionRules:
    return PreemptionRules(
        columns,
        given.window_seconds,
        given.min_requests,
        given.max_share,
        given.min_preemptions,
    )


def _describe(_: str, numbers: Mapping[str, float]) -> str:
    finished = f"{numbers['finished']:.0f} requests finished"
    return f"preempted requests {numbers['preempted']:.0f} times while {finished}"


PROBE = EngineProbe(
    name="engine-preemptions",
    parameters_type=PreemptionParameters,
    codes=(PREEMPTING,),
    rules=_rules,
    evaluate_engine=evaluate_preemptions,
    describe=_describe,
).build()
