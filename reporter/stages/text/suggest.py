"""
Suggest the name that was probably meant.
"""

from collections.abc import Iterable
from difflib import get_close_matches


MIN_SIMILARITY = 0.7
"""
The least similarity (difflib's ratio): one or two wrong letters in a name of usual length.
"""


def did_you_mean(name: str, existing: Iterable[str]) -> str:
    """
    Return a suggestion in parentheses, with a leading space; empty if no name is similar.
    """
    similar = get_close_matches(name, sorted({*existing} - {name}), n=1, cutoff=MIN_SIMILARITY)
    return f' (did you mean "{similar[0]}"?)' if similar else ""
