"""Tell whether an engine that works has more requests than it can take."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from reporter.model.metrics.columns import Column
from reporter.stages.resources.engines.families import EngineColumns
from reporter.stages.resources.engines.outcome import (
    NO_PROGRESS_COUNTERS,
    NO_REQUESTS,
    NOT_LONG_ENOUGH,
    EngineOutcome,
    EngineTrouble,
    EngineUnknown,
)
from reporter.stages.resources.engines.view import EngineView, Sustained


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
