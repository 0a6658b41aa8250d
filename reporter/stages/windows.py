"""
Whether a download is slow, told from all that a pod said of it within a window.

What KAITO's pods say (presets/workspace/inference/vllm/inference_api.py): the speed is a mean over
ten seconds. Before the first byte, for a streamed model for ever, and while nothing arrives, speed
is 0 and what remains is -1; when all is there, what remains is 0 and the speed stays as it last was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum, unique

from reporter.model.samples import Scrape, Unread, Window


REMAINING = "kaito_model_download_remaining_seconds"
ENGINE = "vllm:"
"""
How the families of vLLM's engine begin; they are there once the model is loaded.
"""

MEGABYTE = 1e6

LATE = timedelta(seconds=10)
"""
How much later than two intervals a sample may be and still be the next one.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """
    *speed*: name of the metric. *slow_below*: bytes a second. *interval*: between two scrapes.
    """

    speed: str
    span: timedelta
    interval: timedelta
    slow_below: float

    @property
    def gap(self) -> timedelta:
        """
        Of two samples further apart, nobody knows what was between them.
        """
        return 2 * self.interval + LATE


@unique
class Pace(StrEnum):
    """
    What a window says of a download.
    """

    UNREAD = "unread"  # no page was read in this life
    ABSENT = "absent"  # its page does not tell the speed
    FILLING = "filling"  # slow so far, but not for as long as the window
    NOT_BEGUN = "not begun"
    FAST = "fast"
    FINISHED = "finished"
    SLOW = "slow"
    STALLED = "stalled"  # slow, and nothing arrived at all

    @property
    def known(self) -> bool:
        return self not in {Pace.UNREAD, Pace.ABSENT, Pace.FILLING}

    @property
    def slow(self) -> bool:
        return self in {Pace.SLOW, Pace.STALLED}


@dataclass(frozen=True, slots=True)
class Download:
    """
    *at*: of the newest sample, *since*: of the oldest of those that are slow without a break.

    *speed*, *worst*: now and the lowest of these, in bytes a second. *remaining*: at this speed.
    """

    pace: Pace
    at: datetime | None = None
    since: datetime | None = None
    speed: float = 0.0
    worst: float = 0.0
    remaining: timedelta | None = None

    @property
    def left(self) -> float | None:
        """
        Bytes that have not arrived, as far as that can be told.
        """
        return None if self.remaining is None else self.remaining.total_seconds() * self.speed


def taken(window: Window, scrape: Scrape, *, keep: timedelta) -> Window:
    """
    The window with one more scrape.

    Of those older than *keep* the youngest stays, so that a window is full at any tick.
    """
    before = [each for each in window.scrapes if each.at < scrape.at]
    old = sum(each.at <= scrape.at - keep for each in before)
    positive = {sample.name for sample in scrape.samples if sample.value > 0}
    risen = dict.fromkeys(positive - window.risen.keys(), scrape.at)
    return replace(
        window,
        scrapes=(*before[max(old - 1, 0) :], scrape),
        risen={**window.risen, **risen},
        unread=None,
    )


def missed(window: Window, unread: Unread) -> Window:
    return replace(window, unread=unread)


def judge(window: Window, rules: Rules) -> Download:
    """
    What the pages that were read say, whether or not the last attempt brought one.
    """
    if not window.scrapes:
        return Download(Pace.UNREAD)
    newest, began = window.scrapes[-1], _began(window, rules)
    slow = list(_slow(window, rules, began=began))
    speeds = [_speed(scrape, rules) or 0.0 for scrape in slow]
    return Download(
        pace=_pace(window, rules, slow, began=began),
        at=newest.at,
        since=slow[-1].at if slow else None,
        speed=_speed(newest, rules) or 0.0,
        worst=min(speeds, default=0.0),
        remaining=_remaining(newest),
    )


def _pace(window: Window, rules: Rules, slow: list[Scrape], *, began: datetime | None) -> Pace:
    """
    *slow*: the scrapes without a break up to the newest, that one first.
    """
    newest = window.scrapes[-1]
    if _finished(newest):
        return Pace.FINISHED
    if _speed(newest, rules) is None:
        return Pace.ABSENT
    if began is None:
        return Pace.NOT_BEGUN
    if slow and newest.at - slow[-1].at >= rules.span:
        arriving = any(_speed(scrape, rules) for scrape in slow)
        return Pace.SLOW if arriving else Pace.STALLED
    return Pace.FILLING if slow and not _was_otherwise(window, slow, rules) else Pace.FAST


def _slow(window: Window, rules: Rules, *, began: datetime | None) -> Iterator[Scrape]:
    after = window.scrapes[-1].at
    for scrape in reversed(window.scrapes):
        speed = _speed(scrape, rules)
        early = began is None or scrape.at < began
        if early or _finished(scrape) or speed is None or speed >= rules.slow_below:
            return
        if after - scrape.at > rules.gap:
            return
        yield scrape
        after = scrape.at


def _was_otherwise(window: Window, slow: list[Scrape], rules: Rules) -> bool:
    """
    Whether the scrape right before the slow ones is known, and so was not slow.
    """
    before = [scrape.at for scrape in window.scrapes if scrape.at < slow[-1].at]
    return bool(before) and slow[-1].at - before[-1] <= rules.gap


def _began(window: Window, rules: Rules) -> datetime | None:
    """
    When the first byte arrived, or what remains was first known.
    """
    moments = [window.risen[name] for name in (rules.speed, REMAINING) if name in window.risen]
    return min(moments, default=None)


def _speed(scrape: Scrape, rules: Rules) -> float | None:
    """
    None if it is not told; there is no negative speed.
    """
    told = scrape.highest(rules.speed)
    return told if told is not None and told >= 0 else None


def _finished(scrape: Scrape) -> bool:
    return scrape.engine or scrape.highest(REMAINING) == 0


def _remaining(scrape: Scrape) -> timedelta | None:
    remaining = scrape.highest(REMAINING) or 0.0
    limit = timedelta.max.total_seconds()
    return timedelta(seconds=remaining) if 0 < remaining < limit else None
