"""Render the results of stories as text, JSON and JUnit XML."""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum, unique
from typing import Any

from msgspec import Struct

from reporter.catalogue.problems import Problem
from reporter.sinks.junit import JUnitCase, render_junit
from reporter.stories.running.coverage import StoryCoverage
from reporter.stories.running.runner import StoryResult


@unique
class ResultFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class StoryResults(Struct, frozen=True):
    """The results of all stories that were run. *problems*: why others were not."""

    results: Sequence[StoryResult]
    problems: Sequence[Problem]
    coverage: StoryCoverage | None = None

    @property
    def failed(self) -> Sequence[StoryResult]:
        return [each for each in self.results if not each.passed]


def render_results(results: StoryResults, form: ResultFormat) -> str:
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
        for difference in each.differences:
            yield from (f"  {line}" for line in difference.lines)
        yield ""
    for problem in results.problems:
        yield str(problem)
    if results.coverage is not None:
        yield from _coverage_lines(results.coverage)
    yield ", ".join(_numbers(results)) or "0 passed"


def _numbers(results: StoryResults) -> Iterator[str]:
    failed = len(results.failed)
    for number, what in ((len(results.results) - failed, "passed"), (failed, "failed")):
        if number:
            yield f"{number} {what}"
    if results.problems:
        yield count(len(results.problems), "problem")


def count(number: int, noun: str) -> str:
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
    return {"file": problem.place.file, "line": problem.place.line, "text": problem.text}


def _cases(results: StoryResults) -> list[JUnitCase]:
    cases = [
        JUnitCase(each.story.name, str(each.story.path), failure=_failure(each))
        for each in results.results
    ]
    return cases + problem_cases(results.problems)


def problem_cases(problems: Sequence[Problem]) -> list[JUnitCase]:
    """Return a case for each problem, which is an error of its file."""
    return [
        JUnitCase(f"line {each.place.line}", each.place.file, error=str(each)) for each in problems
    ]


def _failure(result: StoryResult) -> str:
    if result.passed:
        return ""
    lines = [f"{result.story.content['why']}{_order(result)}"]
    return "\n".join([*lines, *(line for each in result.differences for line in each.lines)])
