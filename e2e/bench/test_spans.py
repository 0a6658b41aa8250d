"""The busiest span of time."""

from e2e.bench.support.spans import most_within


def test_a_span_ends_before_the_moment_that_is_as_long_after_its_first():
    assert most_within([0.0, 59.9, 60.0, 61.0], 60) == 3
    assert most_within([0.0, 60.0, 120.0], 60) == 1
    assert most_within([5.0, 5.0, 5.0], 1) == 3


def test_nothing_has_no_busiest_span():
    assert most_within([], 60) == 0
