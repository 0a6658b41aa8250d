"""
Apply a user's overlay: changes to shipped reasons, and reasons of the user's own.

The changes are made to the YAML nodes, so that errors about a change name the overlay's line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reporter.catalogue.drafts import EntrySource, entry_sources
from reporter.catalogue.format import OverlayFile, Override, UnreadEntry
from reporter.catalogue.problems import Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, compose
from reporter.catalogue.yaml.reader import read


MERGED_KEYS = ("hold", "parameters")
"""
The keys that an overlay changes key by key; it replaces all others as a whole.
"""


def apply_overlay(
    sources: Sequence[EntrySource], overlay: Path, problems: list[Problem]
) -> tuple[EntrySource, ...]:
    root = compose(overlay, problems)
    if root is None or read(root, OverlayFile[Any, UnreadEntry], problems) is None:
        return tuple(sources)
    reasons = root.values.get("reasons") if isinstance(root, Fields) else None
    names = {source.name for source in sources}
    changes = _read_changes(reasons, names, problems) if isinstance(reasons, Fields) else {}
    changed = [
        _apply_change(source, changes[source.name]) if source.name in changes else source
        for source in sources
    ]
    return (*changed, *entry_sources(root, "add"))


def _read_changes(reasons: Fields, names: set[str], problems: list[Problem]) -> dict[str, Fields]:
    changes = {}
    for name, node in reasons.values.items():
        if name not in names:
            text = f"unknown reason `{name}`: {suggest_name(name, names)}"
            problems.append(Problem(reasons.where(name), text))
            continue
        found: list[Problem] = []
        change = read(node, Override, found)
        problems += [Problem(p.place, f"{name}: {p.text}") for p in found]
        if change is not None and isinstance(node, Fields):
            changes[name] = node
    return changes


def _apply_change(source: EntrySource, node: Fields) -> EntrySource:
    over = dict(node.values)
    for key in MERGED_KEYS:
        before, after = source.node.values.get(key), over.get(key)
        if isinstance(before, Fields) and isinstance(after, Fields):
            over[key] = before.merged(after)
    return EntrySource(source.node.merged(Fields(node.place, over, node.keys)))
