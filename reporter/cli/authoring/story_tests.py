"""The command ``test``."""

from collections.abc import Sequence
from pathlib import Path

from reporter import PROGRAM_NAME
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.cli.arguments.flags import render_flags
from reporter.cli.authoring.exit_codes import EXIT_DIFFERENT, EXIT_PASSED, EXIT_REFUSED
from reporter.cli.authoring.flags import TEST_FLAGS, packs_of, parse_authoring
from reporter.cli.authoring.results import ResultFormat, StoryResults, render_results
from reporter.model.enums import DetailSource
from reporter.runtime.inputs.permissions import kinds_to_watch
from reporter.settings import SettingsError
from reporter.stages.probes.specs import SPECS
from reporter.stories.notation.schema import render_story_schema
from reporter.stories.replay.catalogues import StoryCatalogues
from reporter.stories.running.coverage import find_coverage
from reporter.stories.running.files import find_files, read_stories
from reporter.stories.running.runner import StoryResult, run_story


HELP = f"""\
Run stories: what happens to a stack, and what must be announced.

Usage:
  {PROGRAM_NAME} test PATH... [FLAGS]

A PATH is the file of a story, or a folder, which stands for the *.yaml in it,
and that of a pack for its stories. A story is replayed on the decisions of this
program, with a clock of its own: no cluster is read, and an hour takes
milliseconds. What is announced must be what the story expects, at its times,
and nothing else.

{{examples}}

{{flags}}

Exit codes: 0 all stories pass, 1 one announces something else, 2 a file, the
overlay or the command line is refused."""


def run_test(argv: Sequence[str]) -> int:
    """Run the command and return its exit code. Raises SettingsError."""
    arguments = parse_authoring(argv, TEST_FLAGS)
    if arguments.is_set("schema"):
        print(render_story_schema(), end="")
        return EXIT_PASSED
    form = arguments.choice("output", ResultFormat)
    if not arguments.names:
        raise SettingsError("", "name the files or folders of stories")
    overlay = arguments.values["catalogue-overlay"]
    catalogues = StoryCatalogues(Path(overlay) if overlay else None, packs_of(arguments))
    results = _run(arguments.names, catalogues, with_coverage=arguments.is_set("coverage"))
    print(render_results(results, form))
    if results.problems:
        return EXIT_REFUSED
    return EXIT_DIFFERENT if results.failed else EXIT_PASSED


def _run(
    names: Sequence[str], catalogues: StoryCatalogues, *, with_coverage: bool
) -> StoryResults:
    """Run every story that can be read. Problems of the catalogue itself are named once."""
    try:
        catalogue = catalogues.plain
    except CatalogueError as err:
        return StoryResults((), err.problems)
    problems: list[Problem] = []
    results: list[StoryResult] = []
    kinds = frozenset(
        name
        for kind in kinds_to_watch(catalogue, SPECS, frozenset(DetailSource))
        if kind.is_declared
        for name in (kind.kind, kind.alias.partition("/")[2])
    )
    files = find_files(map(_stories_of, map(Path, names)), problems)
    for story in read_stories(files, problems, kinds).values():
        found = run_story(story, catalogues)
        if isinstance(found, StoryResult):
            results.append(found)
        else:
            problems += found
    coverage = None
    if with_coverage:
        covered = catalogues.of_all(each.story.content for each in results)
        coverage = find_coverage(results, covered, SPECS)
    return StoryResults(results, sorted(problems), coverage)


def _stories_of(path: Path) -> Path:
    """Return the folder of the stories of a pack; any other path as it is."""
    return path / "stories" if (path / "pack.yaml").is_file() else path


def render_help(examples: str) -> str:
    return HELP.format(examples=examples, flags=render_flags(TEST_FLAGS))
