"""The command ``test``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum, unique
from pathlib import Path
from typing import Any

from msgspec import Struct

from reporter.catalogue.problems import CatalogueError, Problem
from reporter.cli import authoring
from reporter.cli.command import Command, output, switch
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.model.enums import DetailSource
from reporter.settings import Arguments, SettingsError
from reporter.status.junit import JUnitCase, render_junit
from reporter.stories.catalogues import StoryCatalogues
from reporter.stories.files import find_files, read_stories
from reporter.stories.runner import StoryCoverage, StoryResult, find_coverage, run_story
from reporter.stories.schema import render_story_schema


# --------------------------------------------------------------------
# Render the results of stories as text, JSON and JUnit XML.


@unique
class ResultFormat(StrEnum):
    """The values of ``--output`` of test: TEXT for people, JSON for programs, JUNIT for a pipeline."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class StoryResults(Struct, frozen=True):
    """
    The results of all stories that were run. *problems*: why others were not.

    *coverage*: None without ``--coverage``.
    """

    results: Sequence[StoryResult]
    problems: Sequence[Problem]
    coverage: StoryCoverage | None = None

    @property
    def failed(self) -> Sequence[StoryResult]:
        """The results of the stories that announced something else than they expect."""
        return [each for each in self.results if not each.passed]


def render_results(results: StoryResults, form: ResultFormat) -> str:
    """Return the results in the format, without the last line break."""
    match form:
        case ResultFormat.JSON:
            return json.dumps(_as_json(results), indent=2, ensure_ascii=False)
        case ResultFormat.JUNIT:
            return render_junit("stories", _cases(results)).rstrip("\n")
        case ResultFormat.TEXT:
            return "\n".join(_text_lines(results))


def _text_lines(results: StoryResults) -> Iterator[str]:
    for each in results.failed:
        yield f"FAILED {each.story.path}{_order(each)}: {each.story.content['why']}"
        yield from (f"  {line}" for line in _difference_lines(each))
        yield ""
    for problem in results.problems:
        yield str(problem)
    if results.coverage is not None:
        yield from _coverage_lines(results.coverage)
    yield ", ".join(_numbers(results)) or "0 passed"


def _difference_lines(result: StoryResult) -> Iterator[str]:
    """Yield the differences of a story, and what was Unknown meanwhile, which is often why."""
    for difference in result.differences:
        yield from difference.lines
    if result.unknown:
        yield "Unknown meanwhile, so that nothing was announced or ended:"
        yield from (f"  {line}" for line in result.unknown[:MAX_UNKNOWN])
    if len(result.unknown) > MAX_UNKNOWN:
        yield f"  and {len(result.unknown) - MAX_UNKNOWN} more"


MAX_UNKNOWN = 10
"""The reasons and causes that are listed of a story, the first ones first."""


def _numbers(results: StoryResults) -> Iterator[str]:
    failed = len(results.failed)
    for number, what in ((len(results.results) - failed, "passed"), (failed, "failed")):
        if number:
            yield f"{number} {what}"
    if results.problems:
        yield count(len(results.problems), "problem")


def count(number: int, noun: str) -> str:
    """Return a number with its noun, which gets an s for all but 1, as in "2 problems"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _order(result: StoryResult) -> str:
    return f" (order {result.order + 1} of its steps)" if result.order else ""


def _coverage_lines(coverage: StoryCoverage) -> Iterator[str]:
    announced = coverage.total - len(coverage.reasons)
    yield f"{announced} of {coverage.total} reasons are announced by a story."
    if coverage.reasons:
        yield "Without a story that announces them:"
        yield from (f"  {reason}" for reason in coverage.reasons)
    if coverage.codes:
        yield "Codes without a story, of the others:"
        yield from (f"  {reason}: {', '.join(codes)}" for reason, codes in coverage.codes.items())
    yield ""


def _as_json(results: StoryResults) -> dict[str, Any]:
    document: dict[str, Any] = {
        "stories": [
            {
                "name": each.story.name,
                "file": str(each.story.path),
                "passed": each.passed,
                "differences": [
                    {"part": found.part, "diff": "\n".join(found.lines)}
                    for found in each.differences
                ],
                "unknown": list(each.unknown),
            }
            for each in results.results
        ],
        "problems": [as_json(each) for each in results.problems],
    }
    if results.coverage is not None:
        document["coverage"] = {
            "total": results.coverage.total,
            "reasonsWithoutStory": list(results.coverage.reasons),
            "codesWithoutStory": {k: list(v) for k, v in results.coverage.codes.items()},
        }
    return document


def as_json(problem: Problem) -> dict[str, Any]:
    """Return a problem of a file as a JSON object, with its file, its line and its text."""
    return {"file": problem.place.file, "line": problem.place.line, "text": problem.text}


def _cases(results: StoryResults) -> list[JUnitCase]:
    cases = [
        JUnitCase(each.story.name, str(each.story.path), failure=_failure(each))
        for each in results.results
    ]
    return cases + problem_cases(results.problems)


def problem_cases(problems: Sequence[Problem]) -> list[JUnitCase]:
    """Return a JUnit case for each problem, as an error of its file with the line as its name."""
    return [
        JUnitCase(f"line {each.place.line}", each.place.file, error=str(each)) for each in problems
    ]


def _failure(result: StoryResult) -> str:
    if result.passed:
        return ""
    lines = [f"{result.story.content['why']}{_order(result)}"]
    return "\n".join([*lines, *_difference_lines(result)])


def _run_test(arguments: Arguments, _: Mapping[str, str]) -> int:
    if arguments.is_set("schema"):
        print(render_story_schema(), end="")
        return authoring.EXIT_PASSED
    form = arguments.value("output")
    if not arguments.names:
        raise SettingsError("", "name the files or folders of stories")
    overlay = arguments.values["catalogue-overlay"]
    catalogues = StoryCatalogues(Path(overlay) if overlay else None, arguments.value("packs"))
    results = _run(arguments.names, catalogues, with_coverage=arguments.is_set("coverage"))
    print(render_results(results, form))
    if results.problems:
        return authoring.EXIT_REFUSED
    return authoring.EXIT_DIFFERENT if results.failed else authoring.EXIT_PASSED


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
        for kind in kinds_to_watch(catalogue, frozenset(DetailSource))
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
        coverage = find_coverage(results, covered)
    return StoryResults(results, sorted(problems), coverage)


def _stories_of(path: Path) -> Path:
    """Return the folder of the stories of a pack; any other path as it is."""
    return path / "stories" if (path / "pack.yaml").is_file() else path


TEST = Command(
    run=_run_test,
    summary="Run stories: what happens, and what must be announced.",
    usage="test PATH... [FLAGS]",
    about="""\
A PATH is the file of a story, or a folder, which stands for the *.yaml in it,
and that of a pack for its stories. A story is replayed on the decisions of this
program, with a clock of its own: no cluster is read, and an hour takes
milliseconds. What is announced must be what the story expects, at its times,
and nothing else.""",
    examples=(
        ("test stories/ --catalogue-overlay=overlay.yaml", "of an overlay"),
        ("test stories/router-at-zero.yaml -o json", "one story, for a program"),
        ("test stories/ -o junit > report.xml", "for a pipeline"),
        ("test stories/ --coverage", "and which reasons none of them announces"),
        ("test --schema > story.schema.json", "for an editor"),
    ),
    flags=(
        output(ResultFormat),
        authoring.OVERLAY,
        authoring.PACKS,
        switch(
            "coverage",
            "Name the reasons of the catalogue, and the codes, that no story announces.",
        ),
        switch("schema", "Print the JSON Schema of a story's file, and end."),
    ),
    hint=authoring.HINT,
    notes="""\
Exit codes: 0 all stories pass, 1 one announces something else, 2 a file, the
overlay or the command line is refused.""",
)
