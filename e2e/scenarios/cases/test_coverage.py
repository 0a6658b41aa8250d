"""
The cases that must be marked as real. Needs no control plane.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.scenarios.cases.real_cases import REAL_CASES, CaseNotReplayable, of_layer
from e2e.suite.announces import collect_tests
from e2e.support.cases.slow_steps import find_delays, slow_differences
from reporter.model.enums import Layer
from reporter.stories.notation.expectations import expected_announcements
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.pack_stories import read_pack_stories


STORIES = {name: story for name, story in read_pack_stories().items() if story.get("real")}
SUFFIX = "(suppressing downstream reasons: "


def announced() -> list[str]:
    return [text for case in REAL_CASES.values() for _, text in expected_announcements(case)]


def test_every_case_is_played() -> None:
    """
    There is a file with tests for each layer.
    """
    assert sorted(name for layer in Layer for name in of_layer(layer)) == sorted(REAL_CASES)


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"story": [], "announced": {}}, "announces nothing"),
        (
            {
                "story": [{"at": "1m", "restart": "5s"}],
                "announced": {"1m": "Warning clusterReady"},
            },
            r"core only \(restart\)",
        ),
    ],
    ids=["nothing announced", "a step of the core"],
)
def test_a_case_that_cannot_be_replayed_is_named_with_the_remedy(
    case: Mapping[str, Any], error: str
) -> None:
    with pytest.raises(CaseNotReplayable, match=f"tests/cases/quiet.yaml .*{error}.*: remove"):
        of_layer(Layer.CLUSTER, {"quiet": {**case, "real": True}})


@pytest.mark.parametrize("name", [*REAL_CASES, *STORIES])
def test_a_case_is_replayed_alike_on_a_slow_machine(name: str) -> None:
    """
    No step has to come before a hold, a settle or a window of seconds ends.
    """
    case = {**REAL_CASES, **STORIES}[name]
    found = slow_differences(case, find_delays(case))
    assert not found, "\n".join(found)


def test_every_reason_is_announced_by_a_case_here_or_by_a_test_of_the_suite() -> None:
    reasons = {text.split()[1] for text in announced()}
    missing = DEFAULT_CATALOGUE.entries.keys() - reasons - collect_tests().keys()
    assert not missing, f"mark a case of each with real: true: {', '.join(sorted(missing))}"


def test_every_row_of_the_suppression_table_is_played_here() -> None:
    suppressing = [text for text in announced() if SUFFIX in text]
    missing = [
        f"{row.source} > {row.target}"
        for row in DEFAULT_CATALOGUE.suppressions
        if not any(
            text.startswith(f"Warning {row.source} ") and row.target in text.split(SUFFIX)[1]
            for text in suppressing
        )
    ]
    assert not missing
