"""Read the entries for the rendered pages, which need no probes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from reporter.catalogue.format import ReasonEntry
from reporter.catalogue.format_parts.subjects import SubjectEntry
from reporter.catalogue.loader import read_folder
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.sources.overlay import apply_overlay
from reporter.catalogue.sources.packs import DEFAULT_PACKS
from reporter.catalogue.yaml.reader import read
from reporter.model.enums import EventType, Layer


class Chapter(NamedTuple):
    """
    The reasons of one layer of a pack, and what they are about.

    *pack*: empty for what all packs have in common and what an overlay adds.
    """

    layer: Layer
    pack: str
    abouts: Sequence[str]
    entries: Sequence[ReasonEntry]


def read_entries(
    folder: Path, packs: Sequence[str] = DEFAULT_PACKS, overlay: Path | None = None
) -> Sequence[ReasonEntry]:
    """
    Return all entries by layer and rank, the Normal one last. Raise CatalogueError with all problems.
    """
    return sorted((entry for _, entry in _read(folder, packs, overlay)), key=_order)


def read_chapters(
    folder: Path, packs: Sequence[str] = DEFAULT_PACKS, overlay: Path | None = None
) -> Sequence[Chapter]:
    """Return the entries by pack and layer; by layer alone for one pack. Raise CatalogueError."""
    abouts = _read_abouts(folder, packs)
    grouped: defaultdict[tuple[str, Layer], list[ReasonEntry]] = defaultdict(list)
    for pack, entry in _read(folder, packs, overlay):
        grouped[pack if len(packs) > 1 else "", entry.layer].append(entry)
    # Packs in the order in which they are asked for, and what belongs to none as the last.
    order = {pack: number for number, pack in enumerate(dict.fromkeys(pack for pack, _ in abouts))}
    return [
        Chapter(
            layer,
            pack,
            [
                each
                for name, found in abouts
                if pack in ("", name)
                for each in found.get(layer, ())
            ],
            sorted(entries, key=_order),
        )
        for (pack, layer), entries in sorted(
            grouped.items(), key=lambda each: (order.get(each[0][0], len(order)), each[0][1].order)
        )
    ]


def _read(
    folder: Path, packs: Sequence[str], overlay: Path | None
) -> Sequence[tuple[str, ReasonEntry]]:
    """Return the entries with the names of their packs."""
    problems: list[Problem] = []
    given = read_folder(folder, problems, packs)
    if overlay is not None:
        given = apply_overlay(given, overlay, problems)
    found = [(each.pack, read(each.node, ReasonEntry, problems)) for each in given.sources]
    if problems:
        raise CatalogueError(problems)
    return [(pack, entry) for pack, entry in found if entry is not None]


def _read_abouts(
    folder: Path, packs: Sequence[str]
) -> Sequence[tuple[str, Mapping[Layer, Sequence[str]]]]:
    """Return for each pack what the subjects of each layer are, for people."""
    found: defaultdict[str, defaultdict[Layer, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source in read_folder(folder, [], packs).subjects:
        entry = read(source.node, SubjectEntry, [])
        if entry is not None:
            found[source.pack][entry.layer].append(entry.about)
    return tuple(found.items())


def _order(entry: ReasonEntry) -> tuple[int, bool, float, str]:
    rank = float("inf") if entry.rank is UNSET else entry.rank
    return entry.layer.order, entry.type is EventType.NORMAL, rank, entry.reason
