"""Problems of the catalogue's files, each with its line."""

from collections.abc import Collection, Iterable

from msgspec import Struct

from reporter.model.suggest import find_similar


MAX_LISTED_NAMES = 12
"""The number of known names up to which all are listed when none is similar."""


MAX_COMPARED_NAMES = 500
"""
The number of known names up to which a similar one is looked for.

Each comparison is slow; without a limit a file of thousands of unknown names would take minutes.
"""


class Place(Struct, frozen=True, order=True):
    """A line of a file, counted from 1, and perhaps a column of it."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}"


class Problem(Struct, frozen=True, order=True):
    """
    A problem at one place.

    *text* says what is wrong and what to do, on one line.
    """

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class CatalogueError(Exception):
    """The error of a catalogue with problems; *problems* are ordered by file and line."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def suggest_name(word: str, known: Collection[str]) -> str:
    """
    Return what to write instead of an unknown word.

    That is the nearest known one, the list of all, or, if none is known, to remove it.
    """
    if not known:
        return "remove it"
    if len(known) <= MAX_COMPARED_NAMES:
        similar = find_similar(word, known)
        if similar:
            return f"did you mean `{similar}`?"
    if len(known) <= MAX_LISTED_NAMES:
        return f"known are {', '.join(sorted(known))}"
    return "see the catalogue's README.md for what there is"
