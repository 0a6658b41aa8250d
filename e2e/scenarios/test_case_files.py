"""
The marked case files of ``tests/cases`` on the real control plane.
"""

from collections.abc import Iterator

import pytest
import yaml

from e2e.controlplane import ControlPlane, Options
from e2e.suite.announces import collect_tests
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.cluster_replay import ClusterCaseReplay, differences, line
from e2e.support.events import Event
from tests.support.cases.case_replay import expected_announcements
from tests.support.cases.healthy_stack import CASES
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


STORIES = {
    file.stem: case
    for file in sorted(CASES.glob("*.yaml"))
    if (case := yaml.safe_load(file.read_text("utf-8"))).get("real")
}


KAITO_OUT = "kaito-out-with-bad-images"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """
    A plane without controllers that would correct the objects of a case.
    """
    with ControlPlane(Options(controllers=False, scheduler=False, kwok=False)) as plane:
        yield plane


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[CaseClusterObjects]:
    found = CaseClusterObjects(plane.client)
    yield found
    found.end()


def play(plane: ControlPlane, objects: CaseClusterObjects, name: str) -> list[Event]:
    """
    Replay a case, assert that exactly its announcements were written, and return them.
    """
    case = STORIES[name]
    written = ClusterCaseReplay(plane, objects, case).run()
    found = differences(written, case)
    assert not found, "\n".join([case["why"], *found, "", "written was", *map(line, written)])
    return written


@pytest.mark.controlplane
@pytest.mark.parametrize("name", [name for name in STORIES if name != KAITO_OUT])
def test_what_is_announced_is_what_the_case_says(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    written = play(plane, objects, name)
    assert len({each.version for each in written}) == len(written)


@pytest.mark.controlplane
def test_two_models_that_fail_while_kaito_is_out_are_one_event_and_speak_once_it_is_back(
    plane: ControlPlane, objects: CaseClusterObjects
) -> None:
    written = play(plane, objects, KAITO_OUT)
    out = [each for each in written if each.reason == "clusterKaitoControllerNotReady"]
    assert len({each.uid for each in out}) == 1
    assert out[-1].message.endswith(
        " (suppressing downstream reasons: inferencesetModelPodsNotReady in 2 namespace(s))"
    )
    assert [each.reason for each in written[len(out) :]] == [
        "clusterReady",
        "inferencesetModelPodsNotReady",
        "inferencesetModelPodsNotReady",
    ]
    assert {each.involved[1] for each in written[-2:]} == {"team-m", "team-n"}


def test_every_reason_is_announced_by_a_case_here_or_by_a_test_of_the_suite() -> None:
    announced = {
        text.split()[1] for case in STORIES.values() for _, text in expected_announcements(case)
    }
    missing = DEFAULT_CATALOGUE.entries.keys() - announced - collect_tests().keys()
    assert not missing, f"mark a case of each with real: true: {', '.join(sorted(missing))}"


def test_every_row_of_the_suppression_table_is_played_here() -> None:
    suffix = "(suppressing downstream reasons: "
    announced = [
        text
        for case in STORIES.values()
        for _, text in expected_announcements(case)
        if suffix in text
    ]
    missing = [
        f"{row.source} > {row.target}"
        for row in DEFAULT_CATALOGUE.suppressions
        if not any(
            text.startswith(f"Warning {row.source} ") and row.target in text.split(suffix)[1]
            for text in announced
        )
    ]
    assert not missing
