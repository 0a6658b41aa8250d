"""
A user's overlay: changes to reasons that are there, and reasons of one's own.

Changes are made to the nodes, so that what is wrong with a change is told with the overlay's line.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import UNSET, Struct

from reporter.catalogue.document import Fields, compose
from reporter.catalogue.drafts import Source
from reporter.catalogue.format import Override
from reporter.catalogue.problems import Problem, nearest
from reporter.catalogue.reading import read


class Top(Struct, frozen=True, forbid_unknown_fields=True):
    """
    The two parts of an overlay, their entries not read yet.
    """

    reasons: Fields | None = None
    add: list[Fields] = []


MERGED = ("hold", "parameters")
"""
Of these, an overlay changes the keys that it gives; all else it replaces.
"""


def overlaid(
    sources: Sequence[Source], overlay: Path, problems: list[Problem]
) -> tuple[Source, ...]:
    root = compose(overlay, problems)
    top = read(root, Top, problems) if root is not None else None
    if top is None:
        return tuple(sources)
    changes = _changes(top.reasons, {source.name for source in sources}, problems)
    changed = [
        _changed(source, *changes[source.name]) if source.name in changes else source
        for source in sources
    ]
    return (*changed, *(Source(node) for node in top.add))


def _changes(
    reasons: Fields | None, names: set[str], problems: list[Problem]
) -> dict[str, tuple[Fields, Override]]:
    changes = {}
    for name, node in reasons.values.items() if reasons is not None else ():
        place = reasons.where(name) if reasons is not None else node.place
        if name not in names:
            problems.append(Problem(place, f"unknown reason `{name}`: {nearest(name, names)}"))
            continue
        told: list[Problem] = []
        change = read(node, Override, told)
        problems += [Problem(p.place, f"{name}: {p.text}") for p in told]
        if change is not None and isinstance(node, Fields):
            changes[name] = (node, change)
    return changes


def _changed(source: Source, node: Fields, change: Override) -> Source:
    over = {key: value for key, value in node.values.items() if key != "enabled"}
    for key in MERGED:
        before, after = source.node.values.get(key), over.get(key)
        if isinstance(before, Fields) and isinstance(after, Fields):
            over[key] = before.merged(after)
    merged = source.node.merged(Fields(node.place, over, node.keys))
    enabled = source.enabled if change.enabled is UNSET else change.enabled
    return replace(source, node=merged, enabled=enabled)
