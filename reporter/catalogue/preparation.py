"""The preparation by a probe of its entries' parameters, when a catalogue is loaded."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from reporter.catalogue.subject_definitions import SubjectDefinition
from reporter.kinds.declared import DeclaredKind
from reporter.model.enums import Layer, Reason


class GivenEntry(NamedTuple):
    """
    An entry with the parameters of its file.

    *place*: returns the file and line of one of their keys.
    *subjects*: what makes its subjects; None for the cluster.
    """

    reason: Reason
    layer: Layer
    parameters: Any
    place: Callable[[str], str]
    is_enabled: bool = True
    subjects: SubjectDefinition | None = None


class ParameterProblem(NamedTuple):
    """
    A problem of the entry with this number: its key, and what to do.

    *line* and *column*: where in the text of the value, counted from 1; 0 for the whole value.
    """

    entry: int
    key: str
    text: str
    line: int = 0
    column: int = 0


class Preparation(NamedTuple):
    """
    The parameters with which the probe is called, in the order of the entries, or the problems.
    """

    parameters: Sequence[Any]
    problems: Sequence[ParameterProblem] = ()


PrepareFunc: TypeAlias = Callable[[Sequence[GivenEntry], Mapping[str, DeclaredKind]], Preparation]
"""Prepares all entries of one probe. The kinds that the catalogue declares are by their names."""
