"""
Apply a user's overlay: changes to shipped reasons, and reasons of the user's own.

The changes are made to the YAML nodes, so that errors about a change name the overlay's line.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from reporter.catalogue.format import OverlayFile, Override, UnreadEntry
from reporter.catalogue.parsed_entries import EntrySource, GivenCatalogue, entry_sources
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items, Scalar, YamlNode, compose
from reporter.catalogue.yaml_reader import read, readable_keys


# --------------------------------------------------------------------
# Find the folders of the packs that are asked for: those that are shipped, and those of one's own.


DEFAULT_PACKS = ("kaito",)
FOLDER = "packs"


class Pack(Struct, frozen=True):
    """A folder with reasons and what they are about. *name*: that of the folder."""

    name: str
    folder: Path


def shipped_packs(catalogue: Path) -> tuple[str, ...]:
    """Return the names of the packs in the catalogue's folder."""
    return tuple(sorted(each.name for each in (catalogue / FOLDER).glob("*") if each.is_dir()))


def find_packs(
    catalogue: Path, wanted: Sequence[str], problems: list[Problem]
) -> tuple[Pack, ...]:
    """
    Return the packs, in the order in which they are asked for.

    *wanted*: names of shipped packs, and paths of folders, which have a slash.
    """
    found: dict[str, Pack] = {}
    for pack in _find(catalogue, wanted, problems):
        first = found.setdefault(pack.name, pack)
        if first is not pack:
            text = f"pack `{pack.name}` is in {first.folder} already; rename one of the folders"
            problems.append(Problem(Place(str(pack.folder), 1), text))
    return tuple(found.values())


def _find(catalogue: Path, wanted: Sequence[str], problems: list[Problem]) -> Iterator[Pack]:
    shipped = shipped_packs(catalogue)
    for each in wanted:
        folder = Path(each) if is_path(each) else catalogue / FOLDER / each
        if not is_path(each) and each not in shipped:
            text = f"there is no pack `{each}`: {suggest_name(each, shipped)}"
            problems.append(Problem(Place(str(catalogue / FOLDER), 1), text))
        elif not folder.is_dir():
            problems.append(Problem(Place(str(folder), 1), "there is no such folder for a pack"))
        else:
            named = folder.resolve() if folder.name in {"", ".."} else folder
            yield Pack(named.name, folder)


def is_path(pack: str) -> bool:
    """Return whether a pack is named by its folder, not by its name."""
    return "/" in pack


MERGED_KEYS = ("hold", "parameters")
"""The keys that an overlay changes key by key; it replaces all others as a whole."""

VALUES_KEY = "parameters"
"""The key, within the parameters of a reason in CEL, of the values for its expressions."""

ROWS_OFF = "does-not-suppress"
CRD_ROW = "crd-of"
"""
ROWS_OFF: the key of an overlay that lists rows of suppression to switch off. CRD_ROW: the word
there for the row that names no reason, but a missing CRD.
"""


def apply_overlay(
    given: GivenCatalogue, overlay: Path | YamlNode, problems: list[Problem]
) -> GivenCatalogue:
    """
    Return the catalogue with a user's overlay; *given* itself if the file cannot be read.

    Add to *problems* what is wrong with it, at the overlay's lines. Its reasons and kinds come last.
    """
    root = compose(overlay, problems) if isinstance(overlay, Path) else overlay
    if root is None:
        return given
    # What is wrong with the file as a whole hides nothing that is wrong with its parts.
    read(root, OverlayFile[Any, UnreadEntry], problems)
    sources = given.sources
    reasons = root.values.get("reasons") if isinstance(root, Fields) else None
    names = {source.name for source in sources}
    changes = _read_changes(reasons, names, problems) if isinstance(reasons, Fields) else {}
    changed = [
        _apply_change(source, changes[source.name], problems) if source.name in changes else source
        for source in sources
    ]
    return GivenCatalogue(
        (*changed, *entry_sources(root, "add")),
        (*given.kinds, *entry_sources(root, "kinds")),
        given.subjects,
    )


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
        if isinstance(node, Fields):
            changes[name] = node if change is not None else readable_keys(node, Override)
    return changes


def _apply_change(source: EntrySource, node: Fields, problems: list[Problem]) -> EntrySource:
    over = dict(node.values)
    rows_off = over.pop(ROWS_OFF, None)
    if isinstance(rows_off, Items):
        over["suppresses"] = _switch_rows_off(source, rows_off, problems)
    for key in MERGED_KEYS:
        before, after = source.node.values.get(key), over.get(key)
        if isinstance(before, Fields) and isinstance(after, Fields):
            over[key] = _merge(before, after)
    return EntrySource(source.node.merged(Fields(node.place, over, node.keys)), source.pack)


def _merge(before: Fields, after: Fields) -> Fields:
    """Return both; *after* replaces key by key, also among the values for expressions in CEL."""
    old, new = before.values.get(VALUES_KEY), after.values.get(VALUES_KEY)
    if isinstance(old, Fields) and isinstance(new, Fields):
        after = after.merged(Fields(after.place, {VALUES_KEY: old.merged(new)}))
    return before.merged(after)


def _switch_rows_off(source: EntrySource, names: Items, problems: list[Problem]) -> Items:
    """Return the rows of a reason, with those of the named reasons switched off."""
    listed = source.node.values.get("suppresses")
    rows = listed.items if isinstance(listed, Items) else ()
    targets = {_target_of(row) for row in rows}
    wanted = {each.value: each for each in names.items if isinstance(each, Scalar)}
    for name, node in wanted.items():
        if name not in targets:
            text = f"{source.name} does not suppress `{name}`: {suggest_name(str(name), targets)}"
            problems.append(Problem(node.place, text))
    return Items(
        listed.place if listed is not None else names.place,
        tuple(_switched_off(row) if _target_of(row) in wanted else row for row in rows),
    )


def _target_of(row: YamlNode) -> str:
    target = row.values.get("reason") if isinstance(row, Fields) else None
    return str(target.value) if isinstance(target, Scalar) else CRD_ROW


def _switched_off(row: YamlNode) -> YamlNode:
    assert isinstance(row, Fields)  # noqa: S101  it has a target
    off = {"enabled": Scalar(row.place, value=False)}
    return row.merged(Fields(row.place, off))
