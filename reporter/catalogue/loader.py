"""Load the packs of the catalogue and overlays into one checked catalogue."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reporter.catalogue import declared_subjects
from reporter.catalogue.checks import CHECKS
from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.catalogue.format import CatalogueFile, UnreadEntry
from reporter.catalogue.overlay import DEFAULT_PACKS, Pack, apply_overlay, find_packs
from reporter.catalogue.parsed_entries import (
    EntrySource,
    GivenCatalogue,
    KnownNames,
    build_catalogue,
    entry_sources,
    parse_entries,
    prepare_parameters,
)
from reporter.catalogue.problems import CatalogueError, Place, Problem
from reporter.catalogue.yaml_nodes import Fields, YamlNode, compose
from reporter.catalogue.yaml_reader import read


def default_folder() -> Path:
    """Return the catalogue's folder: the installed one, or that of the checkout."""
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "catalogue"


def load_catalogue(
    folder: Path,
    overlay: Path | YamlNode | None = None,
    *further: Path | YamlNode,
    specs: Mapping[str, ProbeSpec],
    flags: frozenset[str],
    packs: Sequence[str] = DEFAULT_PACKS,
) -> Catalogue:
    """
    Return the catalogue. Raise CatalogueError with all problems.

    *overlay*, *further*: files, or what was read already, applied one after the other.
    *specs*: of every probe. *flags*: those that parameters may name. *packs*: names, or folders.
    """
    problems: list[Problem] = []
    given = read_folder(folder, problems, packs)
    for each in further if overlay is None else (overlay, *further):
        given = apply_overlay(given, each, problems)
    kinds = declared_subjects.read_kinds(given.kinds, problems)
    found: list[Problem] = []
    subjects = declared_subjects.read_definitions(
        given.subjects, declared_subjects.known_kinds(kinds), found
    )
    complete = not found and len(subjects.all) == len(given.subjects)
    known = KnownNames(specs, flags, subjects, knows_all_subjects=complete)
    problems += found
    parsed_entries = parse_entries(given.sources, known, problems)
    parsed_entries = prepare_parameters(parsed_entries, specs, kinds, problems)
    for check in CHECKS:
        problems += check(parsed_entries, known)
    if problems:
        raise CatalogueError(problems)
    return build_catalogue(parsed_entries, declared_subjects.bind_kinds(subjects, parsed_entries))


def read_folder(
    folder: Path, problems: list[Problem], packs: Sequence[str] = DEFAULT_PACKS
) -> GivenCatalogue:
    """
    Return what these packs hold, and what all packs have in common; ordered by pack, file and line.
    """
    sources: list[EntrySource] = []
    kinds: list[EntrySource] = []
    subjects: list[EntrySource] = []
    for pack in (Pack("", folder), *find_packs(folder, packs, problems)):
        for root in _read_files(pack.folder, problems):
            sources += entry_sources(root, "reasons", pack.name)
            kinds += entry_sources(root, "kinds", pack.name)
            subjects += entry_sources(root, "subjects", pack.name)
    return GivenCatalogue(tuple(sources), tuple(kinds), tuple(subjects))


def _read_files(folder: Path, problems: list[Problem]) -> Sequence[Fields]:
    """Return the mappings in the files of one folder. Their entries are read one by one later."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        text = "there is no *.yaml here; name the folder that holds the catalogue"
        problems.append(Problem(Place(str(folder), 1), text))
    found = []
    for file in files:
        root = compose(file, problems)
        if root is not None:
            # What is wrong with the file as a whole hides nothing that is wrong with its entries.
            read(root, CatalogueFile[UnreadEntry], problems)
            if isinstance(root, Fields):
                found.append(root)
    return found
