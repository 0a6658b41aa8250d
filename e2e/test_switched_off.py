"""
Every reason has a test of the suite that must notice when it is not told.
"""

import subprocess
import sys

from e2e.suite.switched_off import ROOT, TESTS, named
from tests.shipped import CATALOGUE


def test_every_reason_of_the_catalogue_has_one() -> None:
    assert TESTS.keys() == CATALOGUE.entries.keys()


def test_they_exist() -> None:
    given = (*named(TESTS), "--collect-only", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    listed = [line for line in done.stdout.splitlines() if "::" in line]
    assert sorted(listed) == named(TESTS), done.stdout
