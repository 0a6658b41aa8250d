"""
Tell whether an engine that works has more requests than it can take.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reporter.model.metrics.columns import Column
from reporter.stages.resources.engines.families import EngineColumns
from reporter.stages.resources.engines.outcome import (
    NO_REQUESTS,
    NOT_LONG_ENOUGH,
    EngineOutcome,
    EngineTrouble,
    EngineUnknown,
)
from reporter.stages.resources.engines.view import EngineView


SATURATED, GROWING = "Saturated", "Growing"
NO_USAGE = EngineUnknown("its page does not tell the usage of its KV cache")


@dataclass(frozen=True, slots=True)
class SaturationRules:
    """
    The rules by which a KV cache is full.

    *window*: seconds for which the usage must be no less than *min_usage*, with requests waiting.
    """

    columns: EngineColumns
    window: float
    min_usage: float

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
    that run.
    """

    columns: EngineColumns
    window: float
    min_waiting: float
    min_ratio: float

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        return (self.columns.running, self.columns.waiting)


def evaluate_saturation(engine: EngineView, rules: SaturationRules) -> EngineOutcome:
    columns = rules.columns

    def is_full(page: Mapping[Column, float]) -> bool:
        usage, waiting = page.get(columns.kv_cache_usage, 0.0), page.get(columns.waiting, 0.0)
        return usage >= rules.min_usage and waiting > 0

    usage, waiting = engine.value(columns.kv_cache_usage), engine.value(columns.waiting)
    if usage is None or waiting is None:
        return NO_USAGE if usage is None else NO_REQUESTS
    full = engine.sustained(is_full)
    if full.seconds < rules.window:
        return None if full.began_seen else NOT_LONG_ENOUGH
    if engine.now - engine.last_change(columns.progress) >= rules.window:
        return None  # it makes no progress: its gauges are stale, or it is stalled
    return EngineTrouble(
        SATURATED,
        {
            "usage": usage,
            "running": engine.value(columns.running) or 0.0,
            "waiting": waiting,
            "lasted": full.seconds,
        },
    )


def evaluate_queue(engine: EngineView, rules: QueueRules) -> EngineOutcome:
    columns = rules.columns

    def is_long(page: Mapping[Column, float]) -> bool:
        running, waiting = page.get(columns.running, 0.0), page.get(columns.waiting, 0.0)
        return waiting >= max(rules.min_waiting, rules.min_ratio * running)

    waiting = engine.value(columns.waiting)
    if waiting is None:
        return NO_REQUESTS
    long = engine.sustained(is_long)
    if long.seconds < rules.window:
        return None if long.began_seen else NOT_LONG_ENOUGH
    if waiting < (engine.value_before(columns.waiting, rules.window) or 0.0):
        return None
    running = engine.value(columns.running) or 0.0
    return EngineTrouble(GROWING, {"running": running, "waiting": waiting, "lasted": long.seconds})
