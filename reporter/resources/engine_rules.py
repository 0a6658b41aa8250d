"""The rules of the engine reasons: preempted and failed requests, too many requests, no progress."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from reporter.resources.engine_view import (
    NO_PROGRESS_COUNTERS,
    NO_REQUESTS,
    NOT_LONG_ENOUGH,
    EngineColumns,
    EngineOutcome,
    EngineTrouble,
    EngineUnknown,
    EngineView,
    Sustained,
)
from reporter.scrape.columns import Column
from reporter.scrape.page_rows import POD_ROW


# --------------------------------------------------------------------
# Tell whether too many of an engine's requests are preempted or fail.
#
# Of an engine that was observed for less than the window it is not known that it has no trouble, which
# a predecessor of this process may have seen.


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


# --------------------------------------------------------------------
# Tell whether an engine that works has more requests than it can take.


SATURATED, GROWING = "Saturated", "Growing"
NO_USAGE = EngineUnknown("its page does not tell the usage of its KV cache")


class SaturationRules(Struct, frozen=True):
    """
    The rules by which a KV cache is full.

    *window*: seconds for which the usage must be no less than *min_usage*, with requests waiting.
    *end_share*: the part of that bound below which it ends, so that numbers around the bound are one
    episode. *progress_window*: seconds within which the engine must have made progress.
    """

    columns: EngineColumns
    window: float
    min_usage: float
    end_share: float
    progress_window: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        columns = self.columns
        gauges = (columns.running, columns.waiting, columns.kv_cache_usage)
        return (*gauges, *columns.progress)


class QueueRules(Struct, frozen=True):
    """
    The rules by which a queue is too long.

    *window*: seconds for which at least *min_waiting* requests must wait, and *min_ratio* times those
    that run, and within which the queue must not have become shorter. *end_share*, of both bounds, and
    *progress_window*: as above.
    """

    columns: EngineColumns
    window: float
    min_waiting: float
    min_ratio: float
    end_share: float
    progress_window: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        return (self.columns.running, self.columns.waiting, *self.columns.progress)


def evaluate_saturation(engine: EngineView, rules: SaturationRules) -> EngineOutcome:
    columns = rules.columns

    def is_full(share: float, page: Mapping[Column, float]) -> bool:
        usage, waiting = page.get(columns.kv_cache_usage, 0.0), page.get(columns.waiting, 0.0)
        return usage >= share * rules.min_usage and waiting > 0

    usage, waiting = engine.value(columns.kv_cache_usage), engine.value(columns.waiting)
    if usage is None or waiting is None:
        return NO_USAGE if usage is None else NO_REQUESTS
    numbers = {"usage": usage, "running": engine.value(columns.running) or 0.0, "waiting": waiting}
    return _between_bounds(engine, rules, is_full, EngineTrouble(SATURATED, numbers))


def evaluate_queue(engine: EngineView, rules: QueueRules) -> EngineOutcome:
    columns = rules.columns

    def is_long(share: float, page: Mapping[Column, float]) -> bool:
        running, waiting = page.get(columns.running, 0.0), page.get(columns.waiting, 0.0)
        return waiting >= share * max(rules.min_waiting, rules.min_ratio * running)

    waiting = engine.value(columns.waiting)
    if waiting is None:
        return NO_REQUESTS
    numbers = {"running": engine.value(columns.running) or 0.0, "waiting": waiting}
    got_shorter = waiting < (engine.value_before(columns.waiting, rules.window) or 0.0)
    trouble = EngineTrouble(GROWING, numbers, begins=not got_shorter)
    return _between_bounds(engine, rules, is_long, trouble)


def _between_bounds(
    engine: EngineView,
    rules: SaturationRules | QueueRules,
    holds: Callable[[float, Mapping[Column, float]], bool],
    trouble: EngineTrouble,
) -> EngineOutcome:
    """
    Return the trouble, which begins after the window and then goes on until it is below a lower bound.

    *holds*: whether a page shows it, given the share of the bounds. *trouble*: if it may begin now.
    """
    found = _sustained_at_work(engine, rules, partial(holds, 1.0))
    if isinstance(found, EngineUnknown):
        return found
    if found.seconds < rules.window and not found.began_seen:
        return NOT_LONG_ENOUGH
    begins = trouble.begins and found.seconds >= rules.window
    if not begins and not _goes_on(engine, rules, partial(holds, rules.end_share)):
        return None
    # What goes on has lasted for the window, whatever is kept of it.
    lasted = max(found.seconds, rules.window)
    return EngineTrouble(trouble.code, {**trouble.numbers, "lasted": lasted}, begins)


def _goes_on(
    engine: EngineView,
    rules: SaturationRules | QueueRules,
    holds: Callable[[Mapping[Column, float]], bool],
) -> bool:
    idle_for = engine.now - engine.last_change(rules.columns.progress)
    return idle_for < rules.progress_window and engine.holds(holds)


def _sustained_at_work(
    engine: EngineView,
    rules: SaturationRules | QueueRules,
    holds: Callable[[Mapping[Column, float]], bool],
) -> Sustained | EngineUnknown:
    """
    Return how long a condition has held of an engine that makes progress.

    The gauges of another one are left over from aborted requests, or it sleeps, or it is stalled.
    """
    columns = rules.columns
    found = engine.sustained(holds)
    if not found.seconds:
        return found
    if all(engine.value(each) is None for each in columns.counters):
        return NO_PROGRESS_COUNTERS
    worked = engine.now - engine.working_since(columns.progress, rules.progress_window)
    return found if found.seconds <= worked else Sustained(worked, began_seen=True)


# --------------------------------------------------------------------
# Tell whether an engine has requests and makes no progress.
#
# An engine that hangs still answers its health checks, since another process of the pod serves them.
# The page shows it: requests are running or waiting, and nothing that its steps change does. A step
# moves a counter, or the usage of the KV cache while it only prefills.
#
# The gauges of vLLM change with its steps only. After all requests were aborted at once they keep
# their last values, so an engine whose gauges and traffic stand still may just be idle, which is no
# stall: it is not known. vLLM 0.9.1 to 0.10.1 tells no number at all from a step without a token, so
# there a long prefill looks the same. The HTTP server counts a request when it ends, so those that
# were aborted may be counted on a page after that of the last step.


STALLED = "Stalled"
NO_COUNTERS = EngineUnknown("its page has no counter of steps or generated tokens")
MAY_BE_IDLE = EngineUnknown(
    "it makes no progress and no new requests are seen, so those that its page tells may be left"
    " over from aborted ones"
)


class StallRules(Struct, frozen=True):
    """
    The rules by which an engine is stalled.

    *window*: seconds without progress after which an engine is stalled. *min_pages*: pages that must
    show it. *late*: the seconds after the last step within which requests that ended with it may yet
    be counted.
    """

    columns: EngineColumns
    window: float
    min_pages: int
    late: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        columns = self.columns
        gauges = (columns.running, columns.waiting, columns.awake)
        return (*gauges, *columns.progress, *columns.traffic)


def evaluate_stall(engine: EngineView, rules: StallRules) -> EngineOutcome:
    columns = rules.columns
    running, waiting = engine.value(columns.running), engine.value(columns.waiting)
    is_idle = running == 0 and waiting == 0
    if is_idle or engine.value(columns.awake) == 0:
        return None
    if not (running or waiting):
        return NO_REQUESTS
    # Finished requests alone prove nothing: one may take an hour, and aborted ones do not count.
    if engine.value(columns.steps) is None and engine.value(columns.generation_tokens) is None:
        return NO_COUNTERS
    stopped = engine.last_change(columns.progress)
    since = max(stopped, _busy_since(engine, columns))
    lasted = engine.now - since
    if lasted >= rules.window and engine.pages_since(since) >= rules.min_pages:
        if not _has_traffic(engine, rules, stopped=stopped):
            return MAY_BE_IDLE
        numbers = {"lasted": lasted, "running": running or 0.0, "waiting": waiting or 0.0}
        return EngineTrouble(STALLED, numbers)
    # An earlier page shows that it worked or was idle, so it is well until the window is full.
    worked = since > engine.series.first_at or engine.has_changed(columns.progress)
    return None if worked else NOT_LONG_ENOUGH


def _busy_since(engine: EngineView, columns: EngineColumns) -> float:
    """Return since when the engine has been awake with requests."""
    gauges = (engine.positive_since(each) for each in (columns.running, columns.waiting))
    busy = min((each for each in gauges if each is not None), default=engine.now)
    return max(busy, engine.positive_since(columns.awake) or 0.0)


def _has_traffic(engine: EngineView, rules: StallRules, *, stopped: float) -> bool:
    """Return whether a gauge of requests, or a counter of them, moved after the progress ended."""
    columns = rules.columns
    if engine.last_change((columns.running, columns.waiting)) > stopped:
        return True
    server, late = engine.server(), max(rules.late, engine.readings.longest_gap)
    return server is not None and server.last_change(columns.traffic) > stopped + late
