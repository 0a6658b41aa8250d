"""The command ``lint``."""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.parsed_entries import entry_sources
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.yaml_nodes import Fields, Items, YamlNode, compose, to_plain
from reporter.cel.crd_fields import CrdFields, read_crds
from reporter.cel.preparation import prepare_entries
from reporter.cel.probe import PROBE as CEL_PROBE
from reporter.cli import command
from reporter.cli.authoring import EXIT_DIFFERENT, EXIT_PASSED, HINT, PACKS
from reporter.cli.story_tests import ResultFormat, as_json, count, problem_cases
from reporter.evaluation.registry import SPECS
from reporter.process.imports import uncollected_imports
from reporter.settings import FLAG_NAMES, Arguments, Flag, SettingsError, load_settings
from reporter.settings.errors import ConfigurationError
from reporter.status.junit import JUnitCase, render_junit
from reporter.stories.catalogues import StoryCatalogues
from reporter.stories.checks import check_story
from reporter.stories.files import declared_kinds, find_files, read_readable, roots_of_packs


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    form = arguments.value("output")
    if not arguments.names:
        raise SettingsError("", "name the files or folders to check")
    problems: list[Problem] = []
    files = find_files(map(Path, arguments.names), problems)
    composed = {file: compose(file, problems) for file in files}
    roots = {file: root for file, root in composed.items() if root is not None}
    packs = arguments.value("packs")
    declared = {*_declared([*roots.values(), *roots_of_packs(packs)])}
    crds = _read_crds(arguments, environ, declared)
    found = {*problems, *_check_all(roots, packs, _specs(crds))}
    if not any(map(_is_shipped, files)):
        # What a pack reads, and another version of its stack lacks, is not for who writes an overlay.
        found = {each for each in found if not _is_shipped(Path(each.place.file))}
    problems = sorted(found)
    print(_render(files, problems, form))
    return EXIT_DIFFERENT if problems else EXIT_PASSED


def _is_shipped(file: Path) -> bool:
    return file.resolve().is_relative_to(default_folder())


# --------------------------------------------------------------------
# Read the CRDs by which the fields that expressions read are checked.


CRDS = Flag(
    "crds",
    "Find misspelled fields by the CRDs of the kinds that are declared: FILE, or a folder, as of"
    " kubectl get crds -o yaml. cluster: the API server is asked for them.",
    "FILE|cluster",
)
CLUSTER_CRDS = "cluster"
KUBECONFIG = "kubeconfig"


def _specs(crds: CrdFields) -> Mapping[str, ProbeSpec]:
    """Return the specs of all probes, of which that of CEL knows the fields of these CRDs."""
    spec = replace(CEL_PROBE.spec, prepare=partial(prepare_entries, crds=crds))
    return {**SPECS, spec.name: spec}


def _read_crds(
    arguments: Arguments, environ: Mapping[str, str], declared: Collection[str]
) -> CrdFields:
    """
    Return the fields of the CRDs that ``--crds`` names; none without it.

    Names on standard error the declared kinds without one. Raises SettingsError if they cannot be read.
    """
    place = arguments.values[CRDS.name]
    if not place:
        return CrdFields()
    given = f"--{CRDS.name}={place}"
    if place == CLUSTER_CRDS:
        import asyncio  # noqa: PLC0415  files need none

        found = read_crds(asyncio.run(_get_crds(arguments, environ, declared)))
    else:
        found = read_crds(_documents(place, given))
        if not found.schemas:
            raise SettingsError(given, "has no CustomResourceDefinition")
    for name in sorted(declared - found.schemas.keys()):
        why = f"fields of {name} are not checked: {given} has no CRD of it"
        print(f"{PROGRAM_NAME}: {why}", file=sys.stderr)
    return found


def _documents(place: str, given: str) -> Iterator[Any]:
    from reporter.kube.dump_documents import UnreadableFile, read_documents  # noqa: PLC0415

    try:
        for each in read_documents(place):
            if isinstance(each, UnreadableFile):
                raise SettingsError(given, f"{each.source} cannot be read: {each.why}")
            yield each.content
    except ConfigurationError as err:
        raise SettingsError(given, str(err)) from err


async def _get_crds(
    arguments: Arguments, environ: Mapping[str, str], names: Collection[str]
) -> list[Any]:
    """Return the CRDs of these names in the cluster. Raises SettingsError."""
    with uncollected_imports():
        from reporter.cli.cluster_opener import ClusterAccess  # noqa: PLC0415
        from reporter.kube.discovery import get_crds  # noqa: PLC0415
        from reporter.kube.errors import KubeError  # noqa: PLC0415
        from reporter.process.clock import Clock  # noqa: PLC0415

    try:
        access = ClusterAccess(arguments, environ, Clock())
        api = await access.connect(load_settings(arguments.run_flags, environ))
        try:
            return await get_crds(api, names)
        finally:
            await api.close()
    except (ConfigurationError, KubeError) as err:
        raise SettingsError(f"--{CRDS.name}={CLUSTER_CRDS}", str(err)) from err


def _declared(roots: Iterable[YamlNode]) -> Iterator[str]:
    """Yield the names that CRDs of the kinds which files declare have; those of the core have none."""
    for root in roots:
        for source in entry_sources(root, "kinds"):
            kind = to_plain(source.node)
            if kind.get("group") and kind.get("resource"):
                yield f"{kind['resource']}.{kind['group']}"


# --------------------------------------------------------------------
# Check the files.


def _check_all(
    roots: Mapping[Path, YamlNode], packs: Sequence[str], specs: Mapping[str, ProbeSpec]
) -> Iterator[Problem]:
    # A story may be about kinds that the overlay or the pack beside it declares.
    declaring = (*roots.values(), *roots_of_packs(packs))
    kinds = frozenset(kind for root in declaring for kind in declared_kinds(root))
    catalogues = _catalogues(roots, packs)
    folders: set[Path] = set()
    for file, root in roots.items():
        if _has_key(root, "story"):
            problems: list[Problem] = []
            story = read_readable(file, problems, kinds)
            yield from (*problems, *(check_story(story, catalogues) if story is not None else ()))
        elif not _is_of_catalogue(root):
            load = partial(load_catalogue, packs=packs, specs=specs)
            yield from _problems_of(load, default_folder(), file)
        elif file.parent not in folders:
            folders.add(file.parent)
            yield from _folder_problems(file.parent, specs)


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


def _folder_problems(folder: Path, specs: Mapping[str, ProbeSpec]) -> Sequence[Problem]:
    """
    Return the problems of a whole catalogue, or of a pack, whose folder has no further packs.
    """
    load = partial(load_catalogue, specs=specs)
    if (folder / "packs").is_dir():
        return _problems_of(partial(load, packs=shipped_packs(folder)), folder)
    return _problems_of(partial(load, packs=[str(folder.resolve())]), default_folder())


def _problems_of(
    load: Callable[..., Catalogue], folder: Path, *overlays: Path
) -> Sequence[Problem]:
    try:
        load(folder, *overlays, flags=FLAG_NAMES)
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


LINT = command.Command(
    run=_run,
    summary="Check the files of a catalogue: all problems at once.",
    usage="lint PATH... [FLAGS]",
    about="""\
A PATH is a file, or a folder, which stands for the *.yaml in it: overlays of
the catalogue, each checked on its own with the packs that --packs names; the
files of a whole catalogue or of a pack, checked together; and stories, checked
with the shipped catalogue and with each overlay and pack beside them: name the
overlay that stories are tested with. All problems are named at once, with file
and line. check-config checks flags and one overlay, as run does.

With --crds the fields that expressions name are looked up in the CRDs of their
kinds.""",
    examples=(
        ("lint overlay.yaml", "one overlay"),
        ("lint overlay.yaml --crds=cluster", "and its fields, by the CRDs of the cluster"),
        ("lint clusters/*/overlay.yaml stories/", "overlays, each on its own, and stories"),
        ("lint catalogue/ -o junit > report.xml", "a whole catalogue, for a pipeline"),
    ),
    flags=(
        command.output(ResultFormat),
        PACKS,
        CRDS,
        command.CONTEXT,
        command.AS,
        command.REQUEST_TIMEOUT,
    ),
    settings=frozenset({KUBECONFIG}),
    hint=HINT,
    notes="""\
Exit codes: 0 nothing is wrong, 1 a file has problems, 2 the command line is
refused.""",
)
