"""Suggest the name that was probably meant."""

from collections.abc import Iterable


SIMILAR = 0.6
"""
The least similarity (difflib's ratio) of what is suggested to the author of a command or file.
"""

VERY_SIMILAR = 0.7
"""The same for the names of objects: one or two wrong letters in a name of usual length."""


def find_similar(name: str, known: Iterable[str], *, at_least: float = SIMILAR) -> str:
    """Return the known name that is most similar; empty if none is similar enough."""
    # Most processes never need it, and it takes some milliseconds.
    from difflib import get_close_matches  # noqa: PLC0415

    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=at_least)), "")


def suggest(name: str, known: Iterable[str], *, otherwise: str, form: str = "{}") -> str:
    """
    Return the question whether a similar name was meant, written as *form*; *otherwise* without one.
    """
    similar = find_similar(name, known)
    return f"did you mean {form.format(similar)}?" if similar else otherwise


def did_you_mean(name: str, existing: Iterable[str]) -> str:
    """Return a suggestion in parentheses, with a leading space; empty if no name is similar."""
    similar = find_similar(name, {*existing} - {name}, at_least=VERY_SIMILAR)
    return f' (did you mean "{similar}"?)' if similar else ""
