"""The cases that must be marked as real. Needs no control plane."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.scenarios.cases.chosen_cases import (
    STORIES,
    all_to_show,
    choose,
    chosen_cases,
    shown_by,
    slow_unless_chosen,
)
from e2e.scenarios.cases.real_cases import REAL_CASES, CaseNotReplayable, of_layer
from e2e.suite.announces import collect_tests
from e2e.support.cases.slow_steps import find_delays
from reporter.model.enums import Layer
from reporter.stories.format import expected_announcements
from tests.support.cases import read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.pack_stories import read_pack_stories


def announced() -> list[str]:
    return [text for case in REAL_CASES.values() for _, text in expected_announcements(case)]


def test_every_case_is_played() -> None:
    """There is a file with tests for each layer."""
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


@pytest.mark.parametrize("name", slow_unless_chosen([*REAL_CASES, *STORIES]))
def test_a_case_is_replayed_alike_on_a_slow_machine(name: str) -> None:
    """No step has to come before a hold, a settle or a window of seconds ends."""
    find_delays({**REAL_CASES, **STORIES}[name])


def test_every_reason_is_announced_by_a_case_here_or_by_a_test_of_the_suite() -> None:
    reasons = {text.split()[1] for text in announced()}
    missing = DEFAULT_CATALOGUE.entries.keys() - reasons - collect_tests().keys()
    assert not missing, f"mark a case of each with real: true: {', '.join(sorted(missing))}"


def test_each_kind_and_each_row_of_suppressions_is_shown_by_a_case_of_make_test() -> None:
    cases = {**REAL_CASES, **STORIES}
    missing = all_to_show().difference(*(shown_by(cases[name]) for name in chosen_cases()))
    stories = {**read_cases(), **read_pack_stories()}
    remedies = [
        f"{each}: mark one of these with real: true:"
        f" {', '.join(name for name, case in stories.items() if each in shown_by(case))}"
        for each in sorted(missing)
    ]
    assert not remedies, "\n".join(remedies)


def test_of_the_cases_those_are_chosen_that_add_something() -> None:
    shown = {"a": {1}, "b": {1, 2}, "c": {3}, "d": {2, 3}, "e": {4, 1}}
    chosen = choose({name: frozenset(map(str, each)) for name, each in shown.items()})
    assert chosen == {"b", "c", "e"}
