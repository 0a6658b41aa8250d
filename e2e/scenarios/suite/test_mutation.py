"""
Every reason has a test of the suite that must notice when it is not told.
"""

import subprocess
import sys

from e2e.suite.mutation import ROOT, TESTS_BY_REASON, select_tests
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def test_every_reason_of_the_catalogue_has_one() -> None:
    assert TESTS_BY_REASON.keys() == DEFAULT_CATALOGUE.entries.keys()


def test_they_exist() -> None:
    given = (*select_tests(TESTS_BY_REASON), "--collect-only", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    listed = [line for line in done.stdout.splitlines() if "::" in line]
    assert sorted(listed) == select_tests(TESTS_BY_REASON), done.stdout
