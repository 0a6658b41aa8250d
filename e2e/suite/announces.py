"""
The mark of tests that must fail when one of their reasons is not announced.

A test carries ``@pytest.mark.announces("clusterBBRNotReady")``. As a plugin of pytest this module
prints which reasons the collected tests carry, so that no list of them is kept by hand.
"""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ROOT = Path(__file__).parents[2]
SUITE = "e2e/suite"
MARK = "announces"
_LINE = "announces: "


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        for mark in item.iter_markers(MARK):
            for reason in mark.args:
                print(f"{_LINE}{reason} {item.nodeid}")


def collect_tests() -> Mapping[str, tuple[str, ...]]:
    """Return the node ids of the suite's tests by the reason that they carry."""
    plugin = ("-p", __spec__.name)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", SUITE, *plugin, "--collect-only", "--quiet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, tuple[str, ...]] = {}
    for line in done.stdout.splitlines():
        if line.startswith(_LINE):
            reason, node = line.removeprefix(_LINE).split(maxsplit=1)
            found[reason] = (*found.get(reason, ()), node)
    return found


@cache
def reasons_without_test() -> frozenset[str]:
    """Return the reasons that no test of the suite causes."""
    return frozenset(map(str, DEFAULT_CATALOGUE.entries.keys() - collect_tests().keys()))


def marked(reasons_by_name: Mapping[str, str]) -> Iterable[object]:
    """Return the names as parameters of a test, each with the mark of its reason."""
    return [
        pytest.param(name, marks=pytest.mark.announces(reason))
        for name, reason in reasons_by_name.items()
    ]
