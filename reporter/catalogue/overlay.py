"""
A user's overlay: changes to reasons that are there, and reasons of one's own.

Changes are made to the nodes, so that what is wrong with a change is told with the overlay's line.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import UNSET, Struct

from reporter.catalogue.drafts import EntrySource
from reporter.catalogue.format import Override
from reporter.catalogue.problems import Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, compose
from reporter.catalogue.yaml.reader import read


class RawOverlayFile(Struct, frozen=True, forbid_unknown_fields=True):
    """
    The two parts of an overlay, their entries not read yet.
    """

    reasons: Fields | None = None
    add: list[Fields] = []


MERGED_KEYS = ("hold", "parameters")
"""
Of these, an overlay changes the keys that it gives; all else it replaces.
"""


def apply_overlay(
    sources: Sequence[EntrySource], overlay: Path, problems: list[Problem]
) -> tuple[EntrySource, ...]:
    root = compose(overlay, problems)
    top = read(root, RawOverlayFile, problems) if root is not None else None
    if top is None:
        return tuple(sources)
    changes = _read_changes(top.reasons, {source.name for source in sources}, problems)
    changed = [
        _apply_change(source, *changes[source.name]) if source.name in changes else source
        for source in sources
    ]
    return (*changed, *(EntrySource(node) for node in top.add))


def _read_changes(
    reasons: Fields | None, names: set[str], problems: list[Problem]
) -> dict[str, tuple[Fields, Override]]:
    changes = {}
    for name, node in reasons.values.items() if reasons is not None else ():
        place = reasons.where(name) if reasons is not None else node.place
        if name not in names:
            problems.append(
                Problem(place, f"unknown reason `{name}`: {suggest_name(name, names)}")
            )
            continue
        told: list[Problem] = []
        change = read(node, Override, told)
        problems += [Problem(p.place, f"{name}: {p.text}") for p in told]
        if change is not None and isinstance(node, Fields):
            changes[name] = (node, change)
    return changes


def _apply_change(source: EntrySource, node: Fields, change: Override) -> EntrySource:
    over = {key: value for key, value in node.values.items() if key != "enabled"}
    for key in MERGED_KEYS:
        before, after = source.node.values.get(key), over.get(key)
        if isinstance(before, Fields) and isinstance(after, Fields):
            over[key] = before.merged(after)
    merged = source.node.merged(Fields(node.place, over, node.keys))
    enabled = source.enabled if change.enabled is UNSET else change.enabled
    return replace(source, node=merged, enabled=enabled)
