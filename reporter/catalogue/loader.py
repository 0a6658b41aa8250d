"""
Load the catalogue's folder and an overlay into one checked catalogue.
"""

from collections.abc import Mapping
from pathlib import Path

from reporter.catalogue.builder import build_catalogue
from reporter.catalogue.checks import CHECKS
from reporter.catalogue.drafts import EntrySource, KnownNames, entry_sources, read_drafts
from reporter.catalogue.format import CatalogueFile, UnreadEntry
from reporter.catalogue.overlay import apply_overlay
from reporter.catalogue.problems import CatalogueError, Place, Problem
from reporter.catalogue.yaml.nodes import compose
from reporter.catalogue.yaml.reader import read
from reporter.model.entries import Catalogue, ProbeSpec


def default_folder() -> Path:
    """
    Return the catalogue's folder: the installed one, or that of the checkout.
    """
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "catalogue"


def load_catalogue(
    folder: Path,
    overlay: Path | None = None,
    *,
    specs: Mapping[str, ProbeSpec],
    flags: frozenset[str],
) -> Catalogue:
    """
    Return the catalogue. Raise CatalogueError with all problems.

    *specs*: of every probe. *flags*: those that parameters may name.
    """
    known = KnownNames(specs, flags)
    problems: list[Problem] = []
    sources = read_folder(folder, problems)
    if overlay is not None:
        sources = apply_overlay(sources, overlay, problems)
    drafts = read_drafts(sources, known, problems)
    for check in CHECKS:
        problems += check(drafts, known)
    if problems:
        raise CatalogueError(problems)
    return build_catalogue(drafts)


def read_folder(folder: Path, problems: list[Problem]) -> tuple[EntrySource, ...]:
    """
    Return the entries of all files, ordered by file and line.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        text = "there is no *.yaml here; name the folder that holds the catalogue"
        problems.append(Problem(Place(str(folder), 1), text))
    found: list[EntrySource] = []
    for file in files:
        root = compose(file, problems)
        if root is not None and read(root, CatalogueFile[UnreadEntry], problems) is not None:
            found += entry_sources(root, "reasons")
    return tuple(found)
