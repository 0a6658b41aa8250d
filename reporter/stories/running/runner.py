"""Run stories, each in every order that it has, and compare them with what they expect."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from reporter.catalogue.problems import CatalogueError, Problem
from reporter.model.enums import Reason
from reporter.stories.notation.errors import StoryError
from reporter.stories.notation.expectations import expected_lines, expected_statuses
from reporter.stories.replay.catalogues import StoryCatalogues
from reporter.stories.replay.codes import AnnouncedCodes
from reporter.stories.replay.orders import ORDERS, has_fixed_order, reordered
from reporter.stories.replay.story_replay import StoryReplay
from reporter.stories.running.checks import placed, unknown_reasons
from reporter.stories.running.difference import Difference, compare
from reporter.stories.running.files import StoryFile


class StoryResult(Struct, frozen=True):
    """
    The result of one story. *differences*: of the first order of its steps that has some.

    *order*: that order, counted from 0. *announced*: the codes of the causes that were announced, by
    reason.
    """

    story: StoryFile
    differences: tuple[Difference, ...] = ()
    order: int = 0
    announced: Mapping[Reason, frozenset[str]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return not self.differences


def run_story(story: StoryFile, catalogues: StoryCatalogues) -> StoryResult | tuple[Problem, ...]:
    """Return the result of a story, or why it cannot be run."""
    content, announced = story.content, AnnouncedCodes()
    for order in ORDERS[:1] if has_fixed_order(content) else ORDERS:
        replay: StoryReplay | None = None
        try:
            replay = StoryReplay(reordered(content, order), catalogues)
            problems = tuple(unknown_reasons(story, replay.catalogue.entries))
            if problems:
                return problems
            replay.codes = announced
            replay.run()
        except CatalogueError as err:
            return tuple(placed(story, each) for each in err.problems)
        except StoryError as err:
            step = replay.step if replay is not None and has_fixed_order(content) else -1
            return (Problem(story.place_of(err, step), str(err)),)
        differences = find_differences(content, replay, with_status=order == ORDERS[0])
        if differences:
            return StoryResult(story, differences, order, announced.by_reason)
    return StoryResult(story, announced=announced.by_reason)


def find_differences(
    content: Mapping[str, Any], replay: StoryReplay, *, with_status: bool = True
) -> tuple[Difference, ...]:
    """
    Return where a finished replay differs from what its story expects.

    *with_status*: also of the status, which holds for the first order of the steps alone.
    """
    found = [
        compare("announced", expected_lines(content), replay.announced),
        compare("notes", sorted(content.get("notes") or ()), replay.notes),
    ]
    if with_status:
        found.append(compare("status", *_status_lines(content, replay)))
    return tuple(each for each in found if each is not None)


def _status_lines(content: Mapping[str, Any], replay: StoryReplay) -> tuple[list[str], list[str]]:
    """
    Return the lines of the status that a story expects, and those of the same subjects that it had.
    """
    wanted, found = [], []
    for at, lines in expected_statuses(content).items():
        seen = replay.statuses.get(at, {})
        for subject, line in lines.items():
            wanted.append(f"{at} {subject}: {line}")
            found.append(f"{at} {subject}: {seen.get(subject, 'there is no such subject')}")
    return wanted, found
