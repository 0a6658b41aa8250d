"""
Tell whether an engine has requests and makes no progress.

An engine that hangs still answers its health checks, since another process of the pod serves them.
The page shows it: requests are running or waiting, and nothing that its steps change does. A step
moves a counter, or the usage of the KV cache while it only prefills.

The gauges of vLLM change with its steps only. After all requests were aborted at once they keep
their last values, so an engine whose gauges and traffic stand still may just be idle, which is no
stall: it is not known. vLLM 0.9.1 to 0.10.1 tells no number at all from a step without a token, so
there a long prefill looks the same. The HTTP server counts a request when it ends, so those that
were aborted may be counted on a page after that of the last step.
"""

from msgspec import Struct

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
