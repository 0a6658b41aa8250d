"""
Read the entries for the rendered pages, which need no probes.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET

from reporter.catalogue.format import ReasonEntry
from reporter.catalogue.loader import read_folder
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.yaml.reader import read
from reporter.model.enums import EventType


def read_entries(folder: Path) -> Sequence[ReasonEntry]:
    """
    Return all entries by layer and rank, the Normal one last. Raise CatalogueError with all problems.
    """
    problems: list[Problem] = []
    entries = [
        read(source.node, ReasonEntry, problems) for source in read_folder(folder, problems)
    ]
    if problems:
        raise CatalogueError(problems)
    return sorted((entry for entry in entries if entry is not None), key=_order)


def _order(entry: ReasonEntry) -> tuple[int, bool, float, str]:
    rank = float("inf") if entry.rank is UNSET else entry.rank
    return entry.layer.order, entry.type is EventType.NORMAL, rank, entry.reason
