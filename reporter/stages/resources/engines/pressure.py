"""
Tell whether an engine that works has more requests than it can take.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class SaturationRules:
    """
    The rules by which a KV cache is full.

    *window*: seconds for which the usage must be no less than *min_usage*, with requests waiting.
    *progress_window*: seconds within which the engine must have made progress.
    """

    columns: EngineColumns
    window: float
    min_usage: float
    progress_window: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        columns = self.columns
        gauges = (columns.running, columns.waiting, columns.kv_cache_usage)
        return (*gauges, *columns.progress)


@dataclass(frozen=True, slots=True)
class QueueRules:
    """
    The rules by which a queue is too long.

    *window*: seconds for which at least *min_waiting* requests must wait, and *min_ratio* times those
    that run. *progress_window*: as above.
    """

    columns: EngineColumns
    window: float
    min_waiting: float
    min_ratio: float
    progress_window: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        return (self.columns.running, self.columns.waiting, *self.columns.progress)


def evaluate_saturation(engine: EngineView, rules: SaturationRules) -> EngineOutcome:
    columns = rules.columns

    def is_full(page: Mapping[Column, float]) -> bool:
        usage, waiting = page.get(columns.kv_cache_usage, 0.0), page.get(columns.waiting, 0.0)
        return usage >= rules.min_usage and waiting > 0

    usage, waiting = engine.value(columns.kv_cache_usage), engine.value(columns.waiting)
    if usage is None or waiting is None:
        return NO_USAGE if usage is None else NO_REQUESTS
    full = _sustained_at_work(engine, rules, is_full)
    if isinstance(full, EngineUnknown) or full.seconds < rules.window:
        return _not_yet(full)
    running = engine.value(columns.running) or 0.0
    numbers = {"usage": usage, "running": running, "waiting": waiting, "lasted": full.seconds}
    return EngineTrouble(SATURATED, numbers)


def evaluate_queue(engine: EngineView, rules: QueueRules) -> EngineOutcome:
    columns = rules.columns

    def is_long(page: Mapping[Column, float]) -> bool:
        running, waiting = page.get(columns.running, 0.0), page.get(columns.waiting, 0.0)
        return waiting >= max(rules.min_waiting, rules.min_ratio * running)

    waiting = engine.value(columns.waiting)
    if waiting is None:
        return NO_REQUESTS
    long = _sustained_at_work(engine, rules, is_long)
    if isinstance(long, EngineUnknown) or long.seconds < rules.window:
        return _not_yet(long)
    if waiting < (engine.value_before(columns.waiting, rules.window) or 0.0):
        return None
    running = engine.value(columns.running) or 0.0
    numbers = {"running": running, "waiting": waiting, "lasted": long.seconds}
    return EngineTrouble(GROWING, numbers)


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


def _not_yet(found: Sustained | EngineUnknown) -> EngineOutcome:
    if isinstance(found, EngineUnknown):
        return found
    return None if found.began_seen else NOT_LONG_ENOUGH
