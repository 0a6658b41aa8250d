"""
The roll-up of this process: folded after passes, beside those that follow, and shown in between.

A fold of all InferenceSets, as when something is out through which all are reached, takes a hundred times as
long as the pass before it. The next pass, and what it announces, does not wait for it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple, NoReturn

from msgspec import structs

from reporter.announcing.announcements import Announcements
from reporter.evaluation.finished_pass import FinishedPass
from reporter.model.status_document import Package
from reporter.process.subscribers import Subscribers
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold_steps
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules


logger = logging.getLogger(__name__)


LONGEST_PAUSE: Final = 0.02
"""Seconds between two steps of a fold at most, whatever else has held the event loop meanwhile."""


class _Waiting(NamedTuple):
    """The passes to fold as one, by *rules*. *has_other_rules*: the shown roll-up is by others."""

    finished: FinishedPass
    rules: RollUpRules
    has_other_rules: bool


class RollUpCache:
    """
    Owns the roll-up; nobody else changes it. `run` folds the passes that `follow` takes.

    *changes*: notified after each change of its content. *packages*: returns those that status objects name, by namespace. *page_age*: returns how many seconds
    old a page read through the API server may be; None if no longer than the interval. *missing_rights*:
    returns the permissions that are needed and not granted.
    """

    def __init__(
        self,
        rules: RollUpRules,
        announcements: Announcements,
        now: Callable[[], datetime],
        packages: Callable[[], Mapping[str, Package]] = dict,
        page_age: Callable[[], int | None] = lambda: None,
        missing_rights: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.rollup = RollUp()
        self._packages, self._page_age = packages, page_age
        self._missing_rights = missing_rights
        self._rules = self._pass_rules = rules  # of what is shown, and of passes from now on
        self._announcements, self._now = announcements, now
        self._waiting: _Waiting | None = None
        self._follows, self._changed = asyncio.Event(), asyncio.Event()
        self.changes: Subscribers[[]] = Subscribers()
        self._failed = False

    def change_rules(self, rules: RollUpRules) -> None:
        """
        Fold the next pass, which is a full one, by other rules. Until then the roll-up stays as it is.
        """
        self._pass_rules = rules

    def view(self) -> StatusView:
        """Return the roll-up as of this moment, which later passes do not change."""
        rollup = structs.replace(self.rollup, page_age=self._page_age())
        return StatusView(rollup, self._rules, now=self._now())

    async def next_change(self) -> None:
        """Wait until the content of the roll-up has changed."""
        await self._changed.wait()

    def follow(self, finished: FinishedPass) -> tuple[()]:
        """Take a pass to be folded, together with those that wait already."""
        waiting, rules = self._waiting, self._pass_rules
        if waiting is not None:
            finished = waiting.finished.joined_by(finished)
        has_other_rules = rules is not (waiting.rules if waiting else self._rules)
        has_other_rules |= waiting is not None and waiting.has_other_rules
        self._waiting = _Waiting(finished, rules, has_other_rules)
        self._follows.set()
        return ()

    async def run(self) -> NoReturn:
        """
        Fold the passes that wait, again and again, until the task is cancelled.

        A step that takes long is followed by a pause as long, in which a pass may make all its own. The
        first fold makes none: all that the process is asked waits for it.
        """
        now = asyncio.get_running_loop().time
        while True:
            await self._follows.wait()
            begun, longest = now(), LONGEST_PAUSE if self.rollup.revision else 0.0
            for _ in self.fold_waiting():
                await asyncio.sleep(min(now() - begun, longest))
                begun = now()

    def fold_waiting(self) -> Iterator[None]:
        """
        Fold what waits into the roll-up, which is Unknown after a fault. Yields where other tasks may run.
        """
        waiting, self._waiting = self._waiting, None
        self._follows.clear()
        if waiting is None:
            return
        before = self.rollup
        try:
            after = yield from fold_steps(before, self._input(waiting), waiting.rules)
        except Exception:
            # The status is a view of the findings: a fault of it must not end the announcing of
            # them. Without a roll-up all is Unknown, and the next full pass makes another one.
            if not self._failed:
                logger.exception("the status cannot be rolled up; /status/v1 is Unknown")
            empty = RollUp(revision=before.revision + 1)
            self._failed, after = True, before if self._failed else empty
        else:
            self._failed = False
        self._rules = waiting.rules
        self._replace(after, is_news=after.revision != before.revision)

    def on_permissions_changed(self) -> None:
        """Show the permissions that are missing now: no pass follows from a review of them."""
        if self.rollup.revision:
            self._replace(self.rollup, is_news=False)

    def _replace(self, after: RollUp, *, is_news: bool) -> None:
        """Show *after*. Its number is a new one also if permissions changed while it was folded."""
        missing = self._missing_rights()
        is_news |= missing != self.rollup.missing_rights
        revision = self.rollup.revision + 1 if is_news else self.rollup.revision
        self.rollup = structs.replace(after, missing_rights=missing, revision=revision)
        if is_news:
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
            self.changes.notify()

    def _input(self, waiting: _Waiting) -> RollUpInput:
        return RollUpInput(
            **structs.asdict(waiting.finished),
            episodes=self._announcements.episode_starts(),
            packages=self._packages(),
            has_other_rules=waiting.has_other_rules,
        )
