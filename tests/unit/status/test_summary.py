"""Answers about objects that do not exist, and how to find those that do."""

import pytest

from reporter.status.source import StatusAnswer, Target
from reporter.status.summary import describe_missing
from tests.support.catalogue_fixture import HARNESS_LABEL


@pytest.mark.parametrize(
    ("target", "alike", "expected"),
    [
        (Target("tema-a"), "team-a", "x; did you mean team-a?"),
        (Target("team-a", "phi"), "", "x; status team-a lists those there are"),
        (
            Target("keda"),
            "",
            f"x; status lists those there are, by their label {'='.join(HARNESS_LABEL)}",
        ),
    ],
)
def test_what_is_missing_comes_with_the_next_step(target, alike, expected):
    assert describe_missing(StatusAnswer(None, missing="x", alike=alike), target) == expected
