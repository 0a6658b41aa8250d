"""The steps of a case, and what is announced after each."""

from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from reporter.stories.format import expected_announcements, parse_duration


Case = Mapping[str, Any]


def steps(case: Case) -> Iterator[tuple[Case, list[str]]]:
    """
    Yield each step with the lines announced before the next one, and before all what is given.
    """
    expected = expected_announcements(case)
    story = [{"at": "0s"}, *case.get("story", ()), {"at": "99h"}]
    for step, following in pairwise(story):
        begin, end = parse_duration(step["at"]), parse_duration(following["at"])
        yield step, [line for at, line in expected if begin <= at < end]


def quiet_steps(case: Case) -> int:
    """Return how many steps follow one another at most before something is announced."""
    quiet = [not lines for step, lines in steps(case) if step["at"] != "0s"]
    return max((len([*run]) for is_quiet, run in groupby(quiet) if is_quiet), default=0)
