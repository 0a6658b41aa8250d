"""
Tell whether an engine has requests and makes no progress.

An engine that hangs still answers its health checks, since another process of the pod serves them.
The page shows it: requests are running or waiting, and no counter of steps, tokens or finished
requests moves. A long prefill moves the steps, a request of an hour the tokens.

The gauges of vLLM change with its steps only. After all requests were aborted at once they may keep
their last values, so an engine whose gauges and traffic stand still may just be idle. It counts as
stalled after a longer window, with a code of its own. The HTTP server counts a request when it ends,
so those that were aborted may be counted on a page after that of the last step.
"""

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


STALLED, NO_TRAFFIC = "Stalled", "NoTraffic"
NO_COUNTERS = EngineUnknown("its page has no counter of steps or generated tokens")


@dataclass(frozen=True, slots=True)
class StallRules:
    """
    The rules by which an engine is stalled.

    *window*: seconds without progress after which an engine is stalled. *min_pages*: pages that must
    show it. *no_traffic_window*: the same where nothing shows that there are requests. *late*: the
    seconds after the last step within which requests that ended with it may yet be counted.
    """

    columns: EngineColumns
    window: float
    min_pages: int
    no_traffic_window: float
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
    traffic = not running or _has_traffic(engine, rules, stopped=stopped)
    window = rules.window if traffic else max(rules.window, rules.no_traffic_window)
    if lasted >= window and engine.pages_since(since) >= rules.min_pages:
        numbers = {"lasted": lasted, "running": running or 0.0, "waiting": waiting or 0.0}
        return EngineTrouble(STALLED if traffic else NO_TRAFFIC, numbers)
    # An earlier page shows that it worked or was idle, so it is well until the window is full.
    worked = since > engine.series.first_at or engine.has_increased(columns.progress)
    return None if worked else NOT_LONG_ENOUGH


def _busy_since(engine: EngineView, columns: EngineColumns) -> float:
    """
    Return since when the engine has been awake with requests.
    """
    gauges = (engine.positive_since(each) for each in (columns.running, columns.waiting))
    busy = min((each for each in gauges if each is not None), default=engine.now)
    return max(busy, engine.positive_since(columns.awake) or 0.0)


def _has_traffic(engine: EngineView, rules: StallRules, *, stopped: float) -> bool:
    """
    Return whether a gauge of requests, or a counter of them, moved after the progress ended.
    """
    columns = rules.columns
    if engine.last_change((columns.running, columns.waiting)) > stopped:
        return True
    server, late = engine.server(), max(rules.late, engine.readings.longest_gap)
    return server is not None and server.last_change(columns.traffic) > stopped + late
