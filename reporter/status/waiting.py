"""Wait until a subject is as wanted."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum, unique

from msgspec import Struct

from reporter.model.states import Actionability, State
from reporter.status.source import (
    ASK_INTERVAL,
    OpenSource,
    StatusAnswer,
    StatusQueryFailed,
    StatusSource,
    Target,
)
from reporter.status.summary import Summary, describe_missing, summarize


LAST_LOOK = timedelta(seconds=10)
"""Time limit of the last question, which is asked when the time is over."""

UNCONFIRMED = "the reporter has finished no pass since it was asked first"


@unique
class WaitCondition(StrEnum):
    """
    The values of ``--for``, by which a wait ends well.

    READY: the state is Current. AVAILABLE: a request can reach it and be answered, as far as is known; of a
    namespace, each of its InferenceSets that is not scaled to zero. GONE: it does not exist.
    """

    READY = "ready"
    AVAILABLE = "available"
    GONE = "gone"


@unique
class Outcome(StrEnum):
    """
    The ends of a wait. ENDING: the subject is being deleted. NO_ANSWER: nobody answered in time.
    """

    MET = "met"
    FAILED = "failed"
    ENDING = "ending"
    TIMED_OUT = "timed out"
    NO_ANSWER = "not asked"


class StatusWait(Struct, frozen=True):
    """
    A wait for a condition of a subject, for *timeout* at most; 0 asks once.

    *fail_fast*: end once the subject has failed or is being deleted.
    """

    target: Target
    condition: WaitCondition
    timeout: timedelta
    fail_fast: bool = False


class Waited(Struct, frozen=True):
    """
    The end of a wait, with what was seen last; None without any answer.

    *error*: why the last question had no answer, or why the answers of a reporter do not count.
    """

    outcome: Outcome
    last: Summary | None = None
    error: str = ""


def judge(summary: Summary, wait: StatusWait) -> Outcome | None:
    """
    Return how the wait ends with this summary; None if it goes on.

    With *fail_fast* also FAILED and ENDING, but neither while waiting for GONE, nor FAILED for a cause
    that is transient.
    """
    if _is_met(summary, wait):
        return Outcome.MET
    if not wait.fail_fast or wait.condition is WaitCondition.GONE:
        return None
    if summary.state is State.TERMINATING:
        return Outcome.ENDING
    blocking = summary.blocking
    transient = blocking is not None and blocking.actionability is Actionability.TRANSIENT
    return Outcome.FAILED if summary.state is State.FAILED and not transient else None


def _is_met(summary: Summary, wait: StatusWait) -> bool:
    match wait.condition:
        case WaitCondition.READY:
            return summary.state is State.CURRENT
        case WaitCondition.AVAILABLE:
            if summary.state is State.TERMINATING:
                return False
            return summary.available is True and (bool(wait.target.name) or _has_all(summary))
        case WaitCondition.GONE:
            return summary.state is State.NOT_FOUND


def _has_all(summary: Summary) -> bool:
    counts = summary.counts
    if counts is None:
        # A reporter of an earlier release counts none, and calls a namespace available with one that is.
        return summary.state is State.CURRENT
    return counts.available == counts.total


class Waiter:
    """
    Asks until the wait ends. *seconds*: a clock that never jumps.

    *open_source* is called by the first question, and if that fails, as while an API server is away, by the
    next one.

    *on_summary* is called with each summary, *on_note* with what was not read or is not there,
    *on_error* with each new reason for which an answer is missing.
    """

    def __init__(
        self,
        open_source: OpenSource,
        wait: StatusWait,
        *,
        seconds: Callable[[], float],
        on_summary: Callable[[Summary], None] = lambda _: None,
        on_note: Callable[[str], None] = lambda _: None,
        on_error: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._open_source, self._wait, self._seconds = open_source, wait, seconds
        self._on_summary, self._on_note, self._on_error = on_summary, on_note, on_error
        self._source: StatusSource | None = None
        self._answer: StatusAnswer | None = None
        self._last: Summary | None = None
        self._first_pass: datetime | None = None
        self._is_fresh = False
        self._error = ""

    async def run(self) -> Waited:
        """
        Return once the wait is over.

        The last look is at the end of the time: what became true during a pause counts. Raises what opening
        raises, and StatusQueryFailed if asking again cannot help.
        """
        try:
            return await self._run()
        finally:
            if self._source is not None:
                await self._source.close()

    async def _run(self) -> Waited:
        limit = self._wait.timeout.total_seconds()
        self._is_fresh |= limit <= 0
        deadline = self._seconds() + limit
        while True:
            outcome, pause = await self._step(deadline - self._seconds())
            if outcome is not None:
                return Waited(outcome, self._last)
            remaining = deadline - self._seconds()
            if remaining <= 0:
                break
            await asyncio.sleep(min(pause.total_seconds(), remaining))
        outcome = Outcome.TIMED_OUT if self._last is not None else Outcome.NO_ANSWER
        return Waited(outcome, self._last, self._error or ("" if self._is_fresh else UNCONFIRMED))

    async def _step(self, remaining: float) -> tuple[Outcome | None, timedelta]:
        """Ask once. Return the outcome, if it is one, and the pause before the next question."""
        pause = ASK_INTERVAL
        try:
            answer = await self._ask(remaining)
        except StatusQueryFailed as err:
            if not err.may_pass:
                raise
            pause = err.pause
            self._record_error(str(err))
        else:
            outcome = self._take(answer) if answer is not None else None
            if outcome is not None:
                return outcome, pause
        return None, pause

    async def _ask(self, remaining: float) -> StatusAnswer | None:
        """Return an answer; None if it does not come in the time that remains."""
        lets_wait = self._is_fresh and remaining > LAST_LOOK.total_seconds()
        limit = remaining if lets_wait else max(remaining, LAST_LOOK.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                if self._source is None:
                    self._source = await self._open_source()
                answer = await self._source.ask(
                    self._wait.target, after=self._answer if lets_wait else None
                )
                self._is_fresh |= not self._source.may_lag
                return answer
        return None

    def _take(self, answer: StatusAnswer) -> Outcome | None:
        self._answer, self._error = answer, ""
        for note in self._notes(answer):
            self._on_note(note)
        summary = self._last = summarize(answer, self._wait.target)
        self._on_summary(summary)
        self._refresh(summary)
        return judge(summary, self._wait) if self._is_fresh else None

    def _notes(self, answer: StatusAnswer) -> Iterator[str]:
        yield from answer.notes
        if answer.document is None and self._wait.condition is not WaitCondition.GONE:
            yield describe_missing(answer, self._wait.target)

    def _refresh(self, summary: Summary) -> None:
        """
        Believe a reporter once it has finished a pass since it was asked first.

        The change that is waited for may be a moment old, and not have arrived in its first answer.
        """
        if summary.evaluated_at is None:
            self._is_fresh |= summary.state is State.NOT_FOUND
        elif self._first_pass is None:
            self._first_pass = summary.evaluated_at
        elif summary.evaluated_at > self._first_pass:
            self._is_fresh = True

    def _record_error(self, text: str) -> None:
        if text != self._error:
            self._error = text
            self._on_error(text)
