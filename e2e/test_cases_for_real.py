"""
The marked case files of ``tests/cases`` on the real control plane.
"""

from collections.abc import Iterator

import pytest
import yaml

from e2e import events
from e2e.controlplane import ControlPlane, Options
from e2e.real_objects import Objects
from e2e.real_story import RealStory, differences, line
from tests.stories.story import CASES, told


pytestmark = pytest.mark.controlplane

STORIES = {
    file.stem: case
    for file in sorted(CASES.glob("*.yaml"))
    if (case := yaml.safe_load(file.read_text("utf-8"))).get("real")
}


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """
    Without anybody who would set right what a case says of an object.
    """
    with ControlPlane(Options(controllers=False, scheduler=False, kwok=False)) as plane:
        yield plane


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[Objects]:
    objects = Objects(plane.client)
    yield objects
    objects.end()


@pytest.mark.parametrize("name", STORIES)
def test_what_is_announced_is_what_the_case_says(
    plane: ControlPlane, objects: Objects, name: str
) -> None:
    case = STORIES[name]
    written = RealStory(plane, objects, case).play()
    found = differences(written, [said for _, said in told(case)])
    assert not found, "\n".join([case["why"], *found, "", "written was", *map(line, written)])
