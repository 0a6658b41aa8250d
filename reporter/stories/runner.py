"""Run stories, each in every order that it has, and compare them with what they expect."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from msgspec import Struct, field

from reporter.catalogue.checks import DEFAULT_REMEDY
from reporter.catalogue.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Reason
from reporter.stories.catalogues import AnnouncedCodes, StoryCatalogues
from reporter.stories.checks import placed, unknown_reasons
from reporter.stories.files import StoryFile
from reporter.stories.format import StoryError, expected_lines, expected_statuses, matches_line
from reporter.stories.story_replay import ORDERS, StoryReplay, has_fixed_order, reordered


# --------------------------------------------------------------------
# Compare the lines that a story expects with those of its replay.


class Difference(Struct, frozen=True):
    """
    A difference in one part of a story. *lines*: a unified diff, without a final line break each.
    """

    part: str
    lines: tuple[str, ...]


def compare(part: str, expected: Sequence[str], found: Sequence[str]) -> Difference | None:
    """
    Return the difference of two lists of lines, None if they agree.

    An expected line that ends in … agrees with every line that begins so.
    """
    if len(expected) == len(found) and all(map(matches_line, found, expected)):
        return None
    lines = unified_diff(
        list(expected),
        _as_expected(expected, found),
        f"{part}: expected",
        f"{part}: found",
        n=1,
        lineterm="",
    )
    return Difference(part, tuple(lines))


def _as_expected(expected: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the lines that were found, each written as the expected line that it agrees with."""
    left, shown = list(expected), []
    for line in found:
        match = next((each for each in left if matches_line(line, each)), None)
        if match is not None:
            left.remove(match)
        shown.append(line if match is None else match)
    return shown


class StoryResult(Struct, frozen=True):
    """
    The result of one story. *differences*: of the first order of its steps that has some.

    *order*: that order, counted from 0. *announced*: the codes of the causes that were announced, by
    reason. *unknown*: of one that failed, when its reasons were Unknown, and why.
    """

    story: StoryFile
    differences: tuple[Difference, ...] = ()
    order: int = 0
    announced: Mapping[Reason, frozenset[str]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if the story came out as it expects, in every order of its steps."""
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
            unknown = tuple(replay.unknown.lines())
            return StoryResult(story, differences, order, announced.by_reason, unknown)
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


# --------------------------------------------------------------------
# Find the reasons, and the codes of their causes, that no story announces.


class StoryCoverage(Struct, frozen=True):
    """
    The gaps of stories.

    *reasons*: those that no story announces. *codes*: of the other reasons, the codes of causes that no
    story announces, by reason. *total*: the number of all reasons but Ready ones.
    """

    reasons: tuple[Reason, ...]
    codes: Mapping[Reason, Sequence[str]]
    total: int


def find_coverage(results: Iterable[StoryResult], catalogue: Catalogue) -> StoryCoverage:
    """Return what no story announces, of the whole catalogue: also of disabled reasons."""
    announced: defaultdict[Reason, set[str]] = defaultdict(set)
    for result in results:
        for reason, codes in result.announced.items():
            announced[reason].update(part for code in codes for part in (code, *code.split(".")))
    warnings = [each for each in catalogue.entries.values() if not each.is_ready_reason]
    missing = {
        entry.reason: sorted(_codes(entry, SPECS[entry.probe]) - announced[entry.reason])
        for entry in warnings
        if entry.reason in announced
    }
    return StoryCoverage(
        tuple(entry.reason for entry in warnings if entry.reason not in announced),
        {reason: codes for reason, codes in missing.items() if codes},
        len(warnings),
    )


def _codes(entry: CatalogueEntry, spec: ProbeSpec) -> frozenset[str]:
    """
    Return the codes that a reason has; those with a remedy where the catalogue itself makes them.
    """
    if not spec.any_cause_code:
        return spec.cause_codes
    return frozenset(entry.remedies) - {DEFAULT_REMEDY}
