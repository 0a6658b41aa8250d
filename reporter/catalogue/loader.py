"""
The folder of the catalogue, and an overlay, to one checked catalogue.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from reporter.catalogue.building import built
from reporter.catalogue.checks import CHECKS
from reporter.catalogue.document import Fields, compose
from reporter.catalogue.drafts import Known, Source, drafts
from reporter.catalogue.overlay import overlaid
from reporter.catalogue.problems import CatalogueError, Place, Problem
from reporter.catalogue.reading import read
from reporter.model.entries import Catalogue, ProbeSpec


class Top(Struct, frozen=True, forbid_unknown_fields=True):
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


def load(
    folder: Path,
    overlay: Path | None = None,
    *,
    specs: Mapping[str, ProbeSpec],
    pending: frozenset[str] = frozenset(),
    flags: frozenset[str],
) -> Catalogue:
    """
    Raise CatalogueError with all that is wrong.

    *specs*: of every probe, those *pending* included. *flags*: which parameters may name.
    """
    known = Known(specs, pending, flags)
    problems: list[Problem] = []
    sources = shipped(folder, problems)
    if overlay is not None:
        sources = overlaid(sources, overlay, problems)
    read_ = drafts(sources, known, problems)
    for check in CHECKS:
        problems += check(read_, known)
    if problems:
        raise CatalogueError(problems)
    return built(read_, known)


def shipped(folder: Path, problems: list[Problem]) -> tuple[Source, ...]:
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
        top = read(root, Top, problems) if root is not None else None
        found += [Source(node) for node in top.reasons] if top is not None else []
    return tuple(found)
