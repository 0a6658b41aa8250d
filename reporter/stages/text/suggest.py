"""
Offer the name that was probably meant.
"""

from collections.abc import Iterable
from difflib import get_close_matches


MIN_SIMILARITY = 0.7
"""
Of difflib's ratio: one or two wrong letters in a name of usual length.
"""


def did_you_mean(name: str, existing: Iterable[str]) -> str:
    """
    In parentheses; empty if nothing is like it.
    """
    found = get_close_matches(name, sorted({*existing} - {name}), n=1, cutoff=MIN_SIMILARITY)
    return f' (did you mean "{found[0]}"?)' if found else ""
