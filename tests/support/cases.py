"""The case files: stories of the shipped catalogue, read once in a process."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.problems import Problem
from reporter.stories.catalogues import SHIPPED
from reporter.stories.files import StoryFile, find_files, read_stories


CASES = Path(__file__).parents[1] / "cases"


@cache
def case_files() -> Mapping[str, StoryFile]:
    """Return each case by the name of its file, as the command `test` reads it."""
    problems: list[Problem] = []
    found = read_stories(find_files([CASES], problems), problems)
    assert not problems, "\n".join(map(str, problems))
    return found


@cache
def read_cases() -> Mapping[str, Mapping]:
    """Return the content of each case. They are shared: a replay does not change its case."""
    return {name: each.content for name, each in case_files().items()}


def read_yaml(file: Path) -> Any:
    return yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)


def case_catalogue(case: Mapping) -> Catalogue:
    return SHIPPED.of(case)
