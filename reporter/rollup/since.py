"""
Since when something has been so, and who reports that.

A writer's time counts only if it is sane: not missing, not 1970, not in the future. Nor does the age
of an object count, which some conditions carry in place of a time: an old object may break today.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from reporter.evaluation.clocks import ZERO, CauseClock, FindingState
from reporter.model.states import SinceFrom
from reporter.model.subjects import FindingKey
from reporter.model.times import EARLIEST_TIME
from reporter.model.verdicts import Trouble


RENEWED = timedelta(seconds=30)
"""
The time by which a writer must date trouble later than it was seen, for that to be another attempt: the
clocks of two machines may differ a little.
"""


class Since(NamedTuple):
    """The moment at which something began, and who tells it: its writer, an episode, or this process."""

    moment: datetime
    source: SinceFrom


def since_of(
    key: FindingKey,
    state: FindingState,
    clock: CauseClock,
    episodes: Mapping[FindingKey, datetime],
    *,
    now: datetime,
) -> Since:
    """
    Return since when the trouble of *clock* has existed.

    Without a sane time of its writer that is the start of the episode, or when a process first saw the
    trouble, whichever is earlier.
    """
    written, episode = clock.trouble.since, episodes.get(key, state.announced_at)
    seen = min(clock.cause_seen_at or now, now)
    # Trouble that is written anew again and again, by one NodeClaim after the other, is older.
    is_renewed = written is not None and written - seen > RENEWED
    if written is not None and not is_renewed and is_sane(written, clock.trouble, now=now):
        return Since(written, SinceFrom.WRITER)
    if episode is not None and episode < seen:
        return Since(episode, SinceFrom.EPISODE)
    return Since(seen, SinceFrom.PROCESS)


def is_sane(moment: datetime, trouble: Trouble, *, now: datetime) -> bool:
    """
    Return whether a writer's time counts: after EARLIEST_TIME, not in the future, not the creation.
    """
    return EARLIEST_TIME < moment <= now and moment != trouble.object_created_at


def kind_since(state: FindingState, clock: CauseClock) -> datetime:
    """
    Return since when the trouble has been of its TroubleKind; later than *since_of* if that has changed.
    """
    return state.as_of - max(clock.time_in_kind, ZERO)
