"""
The pages of a state at two moments, and the production of many states side by side.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.chart.alerts.replicas import REPLICAS, Pages, Replicas
from e2e.chart.alerts.timeline import Labels, samples
from reporter.sinks.metrics.declarations.declaration import PREFIX


AT_ONCE = 2
"""
States that are produced side by side: each has three processes, and most of the time they wait.
"""

_OF_STATE = (
    *("finding", "reason_state", "silenced", "suppressed", "unknown"),
    *("missing_rights", "unknown_rights", "undecodable_objects", "watch_up"),
    *("leader", "overlay_refused", "status_objects_failing", "store_up"),
    *("rollup_blocking_info", "rollup_state"),
)
SHOWN = frozenset(f"{PREFIX}{name}" for name in _OF_STATE)
"""
The metrics that show a state; the others may go on counting.
"""

MAX_PASSES = 30
"""
Passes until a state is whole: its kinds and reasons follow each other on a busy machine.
"""


@dataclass(frozen=True)
class State:
    """
    *before* and *after*: the same state at two moments; between them only counters differ.
    """

    before: Pages
    after: Pages


Produce = Callable[[Path], Awaitable[State]]


async def capture(found: Replicas, *, reviewed: int = REPLICAS) -> State:
    """
    Return the pages before and after a pass that shows nothing new.

    *reviewed*: replicas that can review their permissions.
    """
    await found.all_show("unknown_rights", 0, of=reviewed)
    await found.passed()
    before = await found.pages()
    for _ in range(MAX_PASSES):
        await found.passed()
        after = await found.pages()
        if _shown(before) == _shown(after):
            return State(before, after)
        before = after
    raise AssertionError(f"each pass shows something new, at last: {_shown(before)}")


def _shown(pages: Pages) -> list[dict[tuple[str, Labels], float]]:
    return [
        {series: value for series, value in samples(page).items() if series[0] in SHOWN}
        for page in pages
    ]


async def produce(folder: Path, wanted: Sequence[Produce]) -> dict[str, State]:
    """
    Produce the states, some of them side by side.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def one(state: Produce) -> State:
        async with places:
            return await state(folder / state.__name__)

    states = await asyncio.gather(*(one(each) for each in wanted))
    return {state.__name__: found for state, found in zip(wanted, states, strict=True)}
