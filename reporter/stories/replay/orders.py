"""The orders of the objects of a step that takes place ``within`` some time."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from reporter.stories.notation.syntax import parse_duration


ORDERS = range(8)
WITHIN = "within"
PARTS = ("change", "crds")


def reordered(story: Mapping[str, Any], order: int) -> Mapping[str, Any]:
    """
    Return the story with such steps split. Within one order a name always has the same delay.
    """
    steps = [each for step in story["story"] for each in _split_step(step, order)]
    return {**story, "story": sorted(steps, key=lambda step: parse_duration(step["at"]))}


def has_fixed_order(story: Mapping[str, Any]) -> bool:
    return not any(WITHIN in step for step in story["story"])


def _split_step(step: Mapping[str, Any], order: int) -> Iterator[Mapping[str, Any]]:
    """Split a step into whole seconds, so that several objects may still come at once."""
    if WITHIN not in step:
        yield step
        return
    begin, most = parse_duration(step["at"]), int(parse_duration(step[WITHIN]).total_seconds())
    for part in PARTS:
        for name, words in step.get(part, {}).items():
            late = Random(f"{order} {name}").randint(0, most)  # noqa: S311  the same each time
            at = int(begin.total_seconds()) + late
            yield {"at": f"{at}s", part: {name: words}}
