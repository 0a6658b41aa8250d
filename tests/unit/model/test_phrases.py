"""Short lists and ages."""

from datetime import timedelta

import pytest

from reporter.model.sanitize import abbreviate_list, common_beginning, human_duration


def test_lists_are_sorted_and_cut():
    assert abbreviate_list(["b", "a"]) == "a, b"
    assert abbreviate_list(["d", "c", "b", "a"]) == "a, b, c and 1 more"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")],
)
def test_a_duration_has_one_unit(seconds, text):
    assert human_duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("sentences", "shared"),
    [
        (["Namespace a: Gateway x is down.", "Namespace a: Gateway y is down."], "Namespace a: "),
        (["Namespace a: x: it fails.", "Namespace a: x: it waits."], "Namespace a: x: "),
        (["Deployment a is out: 0.", "Deployment b is out: 0."], ""),
        (["Namespace a: it fails."], "Namespace a: "),
    ],
)
def test_what_sentences_begin_with_ends_at_a_colon(sentences, shared):
    assert common_beginning(sentences) == shared
