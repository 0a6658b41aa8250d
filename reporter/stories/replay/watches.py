"""
The words of a story for the state of a watch.
"""

from collections.abc import Mapping
from datetime import datetime

from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost, WatchState
from reporter.stories.notation.errors import StoryError


def parse_watch_state(text: str, *, now: datetime) -> WatchState:
    states: Mapping[str, WatchState] = {
        "open": Watching(),
        "lost": WatchLost(now, "connection lost"),
        "forbidden": NotSynced("forbidden"),
        "unserved": NotServed(),
    }
    if text not in states:
        raise StoryError(f"watch: `{text}` is none of {', '.join(states)}")
    return states[text]
