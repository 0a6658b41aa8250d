"""A watched cluster that gives no answer at all."""

from datetime import UTC, datetime

import pytest

from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost
from reporter.status.watching import why_unreadable


FORBIDDEN = NotSynced("may not list pods", refused=True)
LOST = WatchLost(datetime(2026, 5, 1, tzinfo=UTC), "connection reset")


@pytest.mark.parametrize("states", [[FORBIDDEN, FORBIDDEN], [NotServed(), FORBIDDEN]])
def test_nothing_is_read_if_all_that_is_served_is_refused(states):
    assert why_unreadable(states) == FORBIDDEN


@pytest.mark.parametrize(
    "states", [[Watching(), FORBIDDEN], [LOST, FORBIDDEN], [NotServed(), NotServed()]]
)
def test_what_was_read_once_or_is_not_served_is_an_answer(states):
    assert why_unreadable(states) is None
