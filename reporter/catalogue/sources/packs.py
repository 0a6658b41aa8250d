"""
Find the folders of the packs that are asked for: those that are shipped, and those of one's own.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from reporter.catalogue.problems import Place, Problem, suggest_name


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
