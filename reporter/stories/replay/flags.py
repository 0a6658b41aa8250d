"""
The flags of a story: their defaults, and what the story sets.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reporter.settings import SettingsError, load_settings
from reporter.stories.notation.errors import StoryError


NO_FILE = Path("/nonexistent")


def story_flags(story: Mapping[str, Any]) -> Mapping[str, str]:
    """
    Return the text of each flag by name. Raise StoryError for one that is refused.
    """
    given = story.get("flags") or {}
    if not given:
        return _default_flags()
    arguments = [f"--{name}={_text(value)}" for name, value in given.items()]
    try:
        return load_settings(arguments, {}, hostname="story", namespace_file=NO_FILE).flag_texts
    except SettingsError as err:
        raise StoryError(f"flags: {err}", key="flags") from err


@cache
def _default_flags() -> Mapping[str, str]:
    return load_settings([], {}, hostname="story", namespace_file=NO_FILE).flag_texts


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
