"""Story files that are written for a test."""

from pathlib import Path

from reporter.catalogue.problems import Problem
from reporter.stories.catalogues import SHIPPED, StoryCatalogues
from reporter.stories.files import StoryFile, read_story
from reporter.stories.runner import StoryResult, run_story


STORY = """\
why: A human's word needs no hold.
of: [clusterBBRNotReady]
story:
  - at: 1m
    change:
      Deployment kaito-system/body-based-router: { replicas: 0 }
announced:
  1m: Warning clusterBBRNotReady Namespace/kaito-system…
"""


def write(folder: Path, text: str = STORY, name: str = "router.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def problems_of(folder: Path, text: str) -> list[str]:
    """Return the problems of a story's file, with the file's name only."""
    problems: list[Problem] = []
    assert read_story(write(folder, text), problems) is None
    return [str(each).removeprefix(f"{folder}/") for each in problems]


def read_written(folder: Path, text: str = STORY) -> StoryFile:
    problems: list[Problem] = []
    story = read_story(write(folder, text), problems)
    assert story is not None, problems
    return story


def run(
    folder: Path, text: str = STORY, catalogues: StoryCatalogues = SHIPPED
) -> StoryResult | tuple[Problem, ...]:
    return run_story(read_written(folder, text), catalogues)


def refused(folder: Path, text: str) -> list[str]:
    """Return why a story that can be read cannot be run."""
    found = run(folder, text)
    assert not isinstance(found, StoryResult), found
    return [str(each).removeprefix(f"{folder}/") for each in found]
