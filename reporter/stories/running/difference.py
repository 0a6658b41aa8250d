"""Compare the lines that a story expects with those of its replay."""

from collections.abc import Sequence
from difflib import unified_diff

from msgspec import Struct

from reporter.stories.notation.expectations import matches_line


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
