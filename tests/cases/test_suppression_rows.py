"""Every row of the suppression table, and every CRD that a reason requires."""

import pytest

from reporter.model.enums import EventType, Layer
from reporter.stories.story_replay import StoryReplay
from tests.cases.test_cases import STORIES, stories_of
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ROWS = [(str(row.source), str(row.target)) for row in DEFAULT_CATALOGUE.suppressions]
DEMANDS = [
    (str(entry.reason), crd)
    for layer in Layer
    for entry in DEFAULT_CATALOGUE.evaluated_entries(layer)
    for crd in sorted(DEFAULT_CATALOGUE.required_crds(entry.reason))
]
MISSING = DEFAULT_CATALOGUE.missing_crd_reason


def in_suffix(target: str, announcements: str) -> bool:
    """Return whether an announcement names a reason among those that it suppresses."""
    return any(
        target in each for each in announcements.split("(suppressing downstream reasons: ")[1:]
    )


@pytest.mark.parametrize(("source", "target"), ROWS)
def test_every_row_of_the_suppression_table_has_a_case_in_which_it_is_named(source, target):
    warning = f"{EventType.WARNING} {source} "
    lines = [
        line for announcements in stories_of(source) for line in announcements.split(warning)[1:]
    ]
    assert any(in_suffix(target, line.split(" Warning ")[0]) for line in lines)


def of_reason(reason: str) -> dict:
    """Return the shortest case in which the reason is announced."""
    found = [
        case
        for case in STORIES.values()
        if any(f"{EventType.WARNING} {reason} " in str(each) for each in _lines(case))
        and "crds" not in str(case)
        and "discovery" not in str(case)
        and "suppression" not in case.get("flags", {})
    ]
    return min(found, key=lambda case: len(str(case)))


def _lines(case) -> list:
    return [each for lines in case["announced"].values() for each in _listed(lines)]


def _listed(lines) -> list:
    return lines if isinstance(lines, list) else [lines]


@pytest.mark.parametrize(("reason", "crd"), DEMANDS)
def test_a_reason_whose_crd_is_missing_is_suppressed_and_named(reason, crd):
    """The objects still exist, as they do while a CRD waits for its last one."""
    case = of_reason(reason)
    given = case.get("given", {})
    crds = {**given.get("crds", {}), crd: None}
    announced = StoryReplay({**case, "given": {**given, "crds": crds}}).run().announced
    warnings = [
        line for line in announced if f"{MISSING} CustomResourceDefinition/{crd}: " in line
    ]
    assert any(in_suffix(reason, line) for line in warnings), announced
    assert not [line for line in announced if f"{EventType.WARNING} {reason} " in line]
