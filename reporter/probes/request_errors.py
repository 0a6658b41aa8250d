"""Probe for model servers of which many requests fail."""

from collections.abc import Mapping

from reporter.probes.engine_check import (
    Count,
    EngineParameters,
    Seconds,
    Share,
)
from reporter.probes.engine_probe import EngineProbe
from reporter.resources.engine_rules import (
    CORRUPTED,
    FAILING,
    ErrorRules,
    evaluate_errors,
)
from reporter.resources.engine_view import EngineColumns
from reporter.scrape.columns import Column


class ErrorParameters(EngineParameters, frozen=True, kw_only=True):
    window_seconds: Seconds = 300
    min_requests: Count = 20
    max_share: Share = 0.05


def _rules(columns: EngineColumns, given: ErrorParameters, _: float) -> ErrorRules:
    return ErrorRules(columns, given.window_seconds, given.min_requests, given.max_share)


def _marks(columns: EngineColumns) -> tuple[Column, ...]:
    return columns.finished, columns.http_requests


def _describe(code: str, numbers: Mapping[str, float]) -> str:
    failed, requests = f"{numbers['failed']:.0f}", f"{numbers['requests']:.0f}"
    if code == CORRUPTED:
        return f"gave corrupted results (not a number) to {failed} of {requests} requests"
    return f"failed {failed} of {requests} requests"


PROBE = EngineProbe(
    name="engine-errors",
    parameters_type=ErrorParameters,
    codes=(CORRUPTED, FAILING),
    rules=_rules,
    evaluate_engine=evaluate_errors,
    describe=_describe,
    marks=_marks,
).build()
