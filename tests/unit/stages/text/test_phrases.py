"""
Short lists and ages.
"""

from datetime import timedelta

import pytest

from reporter.stages.text.phrases import abbreviate_list, human_duration


def test_lists_are_sorted_and_cut():
    assert abbreviate_list(["b", "a"]) == "a, b"
    assert abbreviate_list(["d", "c", "b", "a"]) == "a, b, c and 1 more"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")],
)
def test_a_duration_has_one_unit(seconds, text):
    assert human_duration(timedelta(seconds=seconds)) == text
