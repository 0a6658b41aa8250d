"""
The folder of the catalogue, and an overlay, to one checked catalogue.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from reporter.catalogue.builder import build_catalogue
from reporter.catalogue.checks import CHECKS
from reporter.catalogue.drafts import EntrySource, KnownNames, read_drafts
from reporter.catalogue.overlay import apply_overlay
from reporter.catalogue.problems import CatalogueError, Place, Problem
from reporter.catalogue.yaml.nodes import Fields, compose
from reporter.catalogue.yaml.reader import read
from reporter.model.entries import Catalogue, ProbeSpec


class RawCatalogueFile(Struct, frozen=True, forbid_unknown_fields=True):
    """
    A file of the catalogue, its entries not read yet.
    """

    reasons: list[Fields]


def default_folder() -> Path:
    """
    The catalogue that was installed with us, or that of the checkout.
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
    Raise CatalogueError with all that is wrong.

    *specs*: of every probe. *flags*: which parameters may name.
    """
    known = KnownNames(specs, flags)
    problems: list[Problem] = []
    sources = read_folder(folder, problems)
    if overlay is not None:
        sources = apply_overlay(sources, overlay, problems)
    read_ = read_drafts(sources, known, problems)
    for check in CHECKS:
        problems += check(read_, known)
    if problems:
        raise CatalogueError(problems)
    return build_catalogue(read_)


def read_folder(folder: Path, problems: list[Problem]) -> tuple[EntrySource, ...]:
    """
    The entries of all files of a folder, by file and line.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        text = "there is no *.yaml here; name the folder that holds the catalogue"
        problems.append(Problem(Place(str(folder), 1), text))
    found = []
    for file in files:
        root = compose(file, problems)
        top = read(root, RawCatalogueFile, problems) if root is not None else None
        found += [EntrySource(node) for node in top.reasons] if top is not None else []
    return tuple(found)
