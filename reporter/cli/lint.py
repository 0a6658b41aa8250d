"""The command ``lint``."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.yaml_nodes import Fields, Items, YamlNode, compose
from reporter.cli.authoring import EXIT_DIFFERENT, EXIT_PASSED, HINT, PACKS
from reporter.cli.command import Command, output
from reporter.cli.story_tests import ResultFormat, as_json, count, problem_cases
from reporter.evaluation.registry import SPECS
from reporter.settings import FLAG_NAMES, Arguments, SettingsError
from reporter.status.junit import JUnitCase, render_junit
from reporter.stories.catalogues import StoryCatalogues
from reporter.stories.checks import check_story
from reporter.stories.files import (
    declared_kinds,
    find_files,
    kinds_of_packs,
    read_story,
)


def _run(arguments: Arguments, _: Mapping[str, str]) -> int:
    form = arguments.value("output")
    if not arguments.names:
        raise SettingsError("", "name the files or folders to check")
    problems: list[Problem] = []
    files = find_files(map(Path, arguments.names), problems)
    problems = sorted({*problems, *_check_all(files, arguments.value("packs"))})
    print(_render(files, problems, form))
    return EXIT_DIFFERENT if problems else EXIT_PASSED


def _check_all(files: Iterable[Path], packs: Sequence[str]) -> Iterator[Problem]:
    found: list[Problem] = []
    composed = {file: compose(file, found) for file in files}
    roots = {file: root for file, root in composed.items() if root is not None}
    yield from found
    # A story may be about kinds that the overlay or the pack beside it declares.
    kinds = kinds_of_packs(packs).union(
        kind for root in roots.values() for kind in declared_kinds(root)
    )
    catalogues = _catalogues(roots, packs)
    folders: set[Path] = set()
    for file, root in roots.items():
        if _has_key(root, "story"):
            problems: list[Problem] = []
            story = read_story(file, problems, kinds)
            yield from problems if story is None else check_story(story, catalogues)
        elif not _is_of_catalogue(root):
            yield from _problems_of(partial(load_catalogue, packs=packs), default_folder(), file)
        elif file.parent not in folders:
            folders.add(file.parent)
            yield from _folder_problems(file.parent)


def _catalogues(roots: Mapping[Path, YamlNode], packs: Sequence[str]) -> Sequence[StoryCatalogues]:
    """
    Return the catalogues that stories may be meant for: with each of the overlays beside them.

    A pack beside them is one of the packs.
    """
    others = {file: root for file, root in roots.items() if not _has_key(root, "story")}
    overlays = [file for file, root in others.items() if not _is_of_catalogue(root)]
    folders = {file.parent.resolve() for file in others.keys() - {*overlays}}
    named = {Path(pack).name: pack for pack in packs}
    named |= {each.name: str(each) for each in folders if not (each / "packs").is_dir()}
    return [
        StoryCatalogues(overlay, each)
        for each in dict.fromkeys((tuple(packs), tuple(named.values())))
        for overlay in (None, *overlays)
    ]


def _folder_problems(folder: Path) -> Sequence[Problem]:
    """
    Return the problems of a whole catalogue, or of a pack, whose folder has no further packs.
    """
    if (folder / "packs").is_dir():
        return _problems_of(partial(load_catalogue, packs=shipped_packs(folder)), folder)
    return _problems_of(partial(load_catalogue, packs=[str(folder.resolve())]), default_folder())


def _problems_of(
    load: Callable[..., Catalogue], folder: Path, *overlays: Path
) -> Sequence[Problem]:
    try:
        load(folder, *overlays, specs=SPECS, flags=FLAG_NAMES)
    except CatalogueError as err:
        return err.problems
    return ()


def _has_key(root: YamlNode, key: str) -> bool:
    return isinstance(root, Fields) and key in root.values


def _is_of_catalogue(root: YamlNode) -> bool:
    """
    Return whether a file is of a catalogue or pack: it has subjects, or its reasons are a list.
    """
    return _has_key(root, "subjects") or (
        isinstance(root, Fields) and isinstance(root.values.get("reasons"), Items)
    )


def _render(files: Sequence[Path], problems: Sequence[Problem], form: ResultFormat) -> str:
    match form:
        case ResultFormat.JSON:
            document = {
                "files": [str(file) for file in files],
                "problems": [as_json(each) for each in problems],
            }
            return json.dumps(document, indent=2, ensure_ascii=False)
        case ResultFormat.JUNIT:
            wrong = {each.place.file for each in problems}
            passed = [JUnitCase("lint", str(file)) for file in files if str(file) not in wrong]
            return render_junit("lint", [*passed, *problem_cases(problems)]).rstrip("\n")
        case ResultFormat.TEXT:
            total = f"{count(len(problems), 'problem')} in {count(len(files), 'file')}"
            return "\n".join([*map(str, problems), total])


LINT = Command(
    run=_run,
    summary="Check the files of a catalogue: all problems at once.",
    usage="lint PATH... [FLAGS]",
    about="""\
A PATH is a file, or a folder, which stands for the *.yaml in it: overlays of
the catalogue, each checked on its own with the packs that --packs names; the
files of a whole catalogue or of a pack, checked together; and stories, checked
with the shipped catalogue and with each overlay and pack beside them: name the
overlay that stories are tested with. All problems are named at once, with file
and line. check-config checks flags and one overlay, as run does.""",
    examples=(
        ("lint overlay.yaml", "one overlay"),
        ("lint clusters/*/overlay.yaml stories/", "overlays, each on its own, and stories"),
        ("lint catalogue/ -o junit > report.xml", "a whole catalogue, for a pipeline"),
    ),
    flags=(
        output(ResultFormat),
        PACKS,
    ),
    hint=HINT,
    notes="""\
Exit codes: 0 nothing is wrong, 1 a file has problems, 2 the command line is
refused.""",
)
