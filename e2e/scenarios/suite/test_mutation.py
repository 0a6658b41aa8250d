"""The suite's tests name the reasons that they must notice."""

from e2e.suite.announces import collect_tests
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def test_every_reason_that_a_test_is_marked_with_is_in_the_catalogue() -> None:
    assert collect_tests().keys() <= DEFAULT_CATALOGUE.entries.keys()
