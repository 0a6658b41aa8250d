"""The flags of a story: their defaults, and what the story sets."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reporter.settings import Settings, SettingsError, load_settings
from reporter.stories.format import StoryError


NO_FILE = Path("/nonexistent")


def story_settings(story: Mapping[str, Any]) -> Settings:
    """
    Return the settings of a process with these flags. Raise StoryError for one that is refused.
    """
    given = story.get("flags") or {}
    if not given:
        return _default_settings()
    arguments = [f"--{name}={_text(value)}" for name, value in given.items()]
    try:
        return load_settings(arguments, {}, hostname="story", namespace_file=NO_FILE)
    except SettingsError as err:
        raise StoryError(f"flags: {err}", key="flags") from err


def flag_errors(story: Mapping[str, Any]) -> Iterator[StoryError]:
    """Yield why the flags of a story are refused: the settings name one of them at a time."""
    left = dict(story.get("flags") or {})
    while left:
        try:
            story_settings({"flags": left})
        except StoryError as err:
            yield err
            cause = err.__cause__
            named = cause.flag if isinstance(cause, SettingsError) else ""
            name = named.partition("=")[0].removeprefix("--")
            if name not in left:
                return
            del left[name]
        else:
            return


@cache
def _default_settings() -> Settings:
    return load_settings([], {}, hostname="story", namespace_file=NO_FILE)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
