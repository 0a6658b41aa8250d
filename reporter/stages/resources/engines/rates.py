"""
Tell whether too many of an engine's requests are preempted or fail.

Of an engine that was observed for less than the window it is not known that it has no trouble, which
a predecessor of this process may have seen.
"""

from msgspec import Struct

from reporter.model.metrics.columns import Column
from reporter.model.metrics.page_rows import POD_ROW
from reporter.stages.resources.engines.families import EngineColumns
from reporter.stages.resources.engines.outcome import (
    NOT_LONG_ENOUGH,
    EngineOutcome,
    EngineTrouble,
    EngineUnknown,
)
from reporter.stages.resources.engines.view import EngineView


PREEMPTING, FAILING, CORRUPTED = "Preempting", "Failing", "Corrupted"
NO_PREEMPTIONS = EngineUnknown("its page does not count preemptions")
NO_RESULTS = EngineUnknown("its page does not count the results of requests")


class _ShareRules(Struct, frozen=True):
    columns: EngineColumns
    window: float
    min_requests: float
    max_share: float


class PreemptionRules(_ShareRules, frozen=True):
    """
    The rules by which too many requests are preempted.

    *window*: in seconds. *max_share*: of the finished requests; it must be exceeded in both halves of
    the window. *min_requests*, *min_preemptions*: one of these must have been seen, as in a storm nearly
    nothing may finish.
    """

    min_preemptions: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        return (self.columns.preemptions, self.columns.finished)


class ErrorRules(_ShareRules, frozen=True):
    """
    The rules by which too many requests fail.

    *window*: in seconds. *max_share*: of the requests, at least *min_requests*.
    """

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        columns = self.columns
        http = (columns.http_requests, columns.http_errors)
        return (*http, columns.finished, columns.failed, columns.corrupted)


def evaluate_preemptions(engine: EngineView, rules: PreemptionRules) -> EngineOutcome:
    columns = rules.columns
    if engine.value(columns.preemptions) is None or engine.value(columns.finished) is None:
        return NO_PREEMPTIONS
    kept = columns.preemptions, columns.finished
    late = engine.increase(rules.window / 2, *kept)
    # With pages further apart than half of the window, both halves are longer.
    whole = engine.increase(late.seconds + rules.window / 2, *kept)
    early = tuple(one - other for one, other in zip(whole.by_column, late.by_column, strict=True))
    if whole.seconds < late.seconds + rules.window / 2:
        return NOT_LONG_ENOUGH
    # In both halves, as a benchmark or a rush of a minute is soon over.
    if not all(_is_storm(half, rules) for half in (early, late.by_column)):
        return None
    preempted, finished = whole.by_column
    return EngineTrouble(PREEMPTING, {"preempted": preempted, "finished": finished})


def _is_storm(half: tuple[float, ...], rules: PreemptionRules) -> bool:
    preempted, finished = half
    enough = finished >= rules.min_requests / 2 or preempted >= rules.min_preemptions / 2
    return enough and preempted > rules.max_share * finished


def evaluate_errors(engine: EngineView, rules: ErrorRules) -> EngineOutcome:
    """
    Evaluate the results of an engine's requests, and in the row of the pod those of its HTTP server.
    """
    columns = rules.columns
    has_results = engine.value(columns.finished) is not None
    if not has_results and engine.value(columns.http_requests) is None:
        return None if engine.name == POD_ROW else NO_RESULTS
    increase = engine.increase(rules.window, *rules.kept_columns)
    http, http_errors, finished, failed, corrupted = increase.by_column
    if corrupted > 0:
        return EngineTrouble(
            CORRUPTED, {"failed": corrupted, "requests": max(finished, corrupted)}
        )
    for errors, requests in ((http_errors, http), (failed, finished)):
        if requests >= rules.min_requests and errors > rules.max_share * requests:
            return EngineTrouble(FAILING, {"failed": errors, "requests": requests})
    return None if increase.seconds >= rules.window else NOT_LONG_ENOUGH
