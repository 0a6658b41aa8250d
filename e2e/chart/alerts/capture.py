"""The pages of a state at two moments, and the production of many states side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.chart.alerts.replicas import REPLICAS, Pages, Replicas
from e2e.chart.alerts.timeline import Labels, samples
from reporter.metrics.declarations import PREFIX


AT_ONCE = 2
"""States that are produced side by side: most of the time they wait."""

_OF_STATE = (
    *("finding", "findings_complete", "reason_state"),
    *("missing_rights", "unknown_rights", "undecodable_objects", "watch_up"),
    *("leader", "overlay_refused", "status_objects_failing", "store_up"),
    *("rollup_blocking_info", "rollup_stalled", "rollup_stalled_complete", "rollup_state"),
)
SHOWN = frozenset(f"{PREFIX}{name}" for name in _OF_STATE)
"""The metrics that show a state; the others may go on counting."""

MAX_PASSES = 30
"""Passes until a state is whole: its kinds and reasons follow each other on a busy machine."""


@dataclass(frozen=True)
class State:
    """*before* and *after*: the same state at two moments; between them only counters differ."""

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
    before = found.pages()
    for _ in range(MAX_PASSES):
        await found.passed()
        after = found.pages()
        if _shown(before) == _shown(after):
            return State(_aged(before), _aged(after))
        before = after
    raise AssertionError(f"each pass shows something new, at last: {_shown(before)}")


def _aged(pages: Pages) -> Pages:
    """
    Return the pages as of processes that have run for the longest window of the status, as no test waits.
    """
    complete, stalled = f"{PREFIX}findings_complete 1.0\n", f"{PREFIX}rollup_stalled_complete "
    return tuple(
        page.replace(f"{stalled}0.0\n", f"{stalled}1.0\n") if complete in page else page
        for page in pages
    )


def _shown(pages: Pages) -> list[dict[tuple[str, Labels], float]]:
    return [
        {series: value for series, value in samples(page).items() if series[0] in SHOWN}
        for page in pages
    ]


class States:
    """
    The states by name, each produced when it is first asked for, or with another one.

    *expected*: the names of those that will be asked for, which are produced side by side.
    """

    def __init__(
        self, folder: Path, known: Sequence[Produce], expected: Collection[str] = ()
    ) -> None:
        self._folder, self._known = folder, {each.__name__: each for each in known}
        self._expected = [name for name in self._known if name in expected]
        self._found: dict[str, State | BaseException] = {}

    def __getitem__(self, name: str) -> State:
        self._produce_missing((name, *self._expected))
        return self._get(name)

    def of(self, *names: str) -> dict[str, State]:
        """Return these states; none: all. Those that are missing are produced side by side."""
        wanted = names or tuple(self._known)
        self._produce_missing(wanted)
        return {name: self._get(name) for name in wanted}

    def _produce_missing(self, names: Sequence[str]) -> None:
        missing = [self._known[name] for name in dict.fromkeys(names) if name not in self._found]
        if missing:
            self._found |= asyncio.run(_produce(self._folder, missing))

    def _get(self, name: str) -> State:
        """Return a state; raise, at each try, the error with which it could not be produced."""
        found = self._found[name]
        if isinstance(found, BaseException):
            raise found
        return found


async def _produce(folder: Path, wanted: Sequence[Produce]) -> dict[str, State | BaseException]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(state: Produce) -> State:
        async with places:
            try:
                return await state(folder / state.__name__)
            except Exception as err:
                err.add_note(f"in the state {state.__name__}")
                raise

    states = await asyncio.gather(*(one(each) for each in wanted), return_exceptions=True)
    return {state.__name__: found for state, found in zip(wanted, states, strict=True)}
