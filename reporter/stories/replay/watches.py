"""The words of a story for the state of a watch."""

from collections.abc import Collection, Mapping
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


def check_watched(resource: str, watched: Collection[str]) -> None:
    """Raise StoryError for a resource that is not among those that are watched."""
    if resource not in watched:
        known = ", ".join(dict.fromkeys(watched))
        raise StoryError(f"watch: {resource} is not watched; watched are {known}")
