"""The lines that a case expects, compared with those that were announced."""

import re
from itertools import groupby
from operator import itemgetter

from e2e.support.cases.case_steps import Case
from reporter.stories.format import expected_announcements, matches_line


MEASURED = re.compile(
    r"(?<= for )(?:\d+[hms])+|\d+(?= times while )|\d+(?= requests finished)|\d+ of \d+(?= requests)"
)
"""
Durations, and what is counted within a window. They depend on the time that passes between steps.
"""


def matches_expected(line: str, wanted: str) -> bool:
    """
    Return whether a line is the one that the case expects, whatever durations and counts of a window
    it states.
    """
    return matches_line(_without_measures(line), _without_measures(wanted))


def _without_measures(text: str) -> str:
    return MEASURED.sub("#", text)


def differences(written: list[str], case: Case) -> list[str]:
    """
    Return the differences. Lines that a case expects at the same moment may come in any order.
    """
    expected = groupby(expected_announcements(case), key=itemgetter(0))
    left, odd = [[text for _, text in each] for _, each in expected], []
    for each in written:
        found = (
            next((text for text in left[0] if matches_expected(each, text)), None)
            if left
            else None
        )
        if found is None:
            odd.append(f"not expected: {each}")
            continue
        left[0].remove(found)
        left = left if left[0] else left[1:]
    return [*odd, *(f"not announced: {text}" for group in left for text in group)]
