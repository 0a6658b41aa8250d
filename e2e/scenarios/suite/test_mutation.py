"""
Every reason has a test of the suite that must notice when it is not announced.
"""

from e2e.suite.announces import collect_tests
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def test_every_reason_of_the_catalogue_has_one() -> None:
    assert collect_tests().keys() == DEFAULT_CATALOGUE.entries.keys()
