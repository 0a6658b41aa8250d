"""The rows of the history: one for each reason of a subject, or with ``-o wide`` for each episode."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from reporter.history.history import PastEpisode, PastReason
from reporter.status.table import format_age


COLUMNS = ("REASON", "SUBJECT", "NODE", "PHASE", "EPISODES", "LASTED", "BEGAN")
WIDE_COLUMNS = (
    "REASON",
    "SUBJECT",
    "NODE",
    "PHASE",
    "RESOLUTION",
    "LASTED",
    "BEGAN",
    "TIMES",
    "MESSAGE",
)


def history_rows(reasons: Iterable[PastReason], *, now: datetime) -> Iterator[Sequence[str]]:
    """
    Yield a row for each reason of a subject, with the cells of COLUMNS.

    The phase is that of the last episode, whose beginning is shown as an age at *now*. The time is the sum
    over all episodes.
    """
    for each in reasons:
        last = each.last
        yield (
            last.reason,
            last.subject,
            last.node,
            last.phase,
            str(len(each.episodes)),
            format_age(each.lasted_seconds),
            _ago(last.began, now),
        )


def episode_rows(episodes: Iterable[PastEpisode], *, now: datetime) -> Iterator[Sequence[str]]:
    """Yield a row for each episode, with the cells of WIDE_COLUMNS; its beginning is shown as an age."""
    for each in episodes:
        yield (
            each.reason,
            each.subject,
            each.node,
            each.phase,
            each.resolution,
            format_age(each.lasted_seconds),
            _ago(each.began, now),
            str(each.occurrences),
            each.message,
        )


def _ago(moment: datetime, now: datetime) -> str:
    return f"{format_age(int((now - moment).total_seconds()))} ago"
