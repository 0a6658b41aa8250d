"""The batches of a pass, between which it may be cut."""

from reporter.evaluation.suppression import split_into_batches, upstream_first
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.replay_builders import sets


SMALL = [*sets(30, "team-a"), *sets(30, "team-b"), *sets(50, "team-c")]


def test_a_namespace_that_fits_into_a_batch_is_not_divided():
    batches = list(split_into_batches(SMALL, 70))
    assert [len(batch) for batch in batches] == [60, 50]
    assert [subject for batch in batches for subject in batch] == SMALL


def test_a_namespace_that_fills_a_batch_is_alone_in_it():
    assert [len(batch) for batch in split_into_batches(SMALL, 50)] == [30, 30, 50]


def test_a_larger_namespace_is_divided_and_its_rest_is_joined_by_the_next():
    subjects = [*sets(25, "team-a"), *sets(5, "team-b"), *sets(6, "team-c")]
    assert [len(batch) for batch in split_into_batches(subjects, 10)] == [10, 10, 10, 6]


def test_layers_share_a_batch():
    subjects = upstream_first(frozenset({CLUSTER_SUBJECT, *sets(3, "team-a")}))
    assert list(split_into_batches(subjects, 10)) == [subjects]


def test_nothing_makes_no_batch():
    assert list(split_into_batches([], 10)) == []
