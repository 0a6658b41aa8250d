"""Every probe has tests of its verdicts and a reason that names it."""

from pathlib import Path

import pytest

from reporter.evaluation.registry import PROBES
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_has_unit_tests_in_the_folder_that_mirrors_its_own(name):
    _, folder, module = PROBES[name].evaluate.__module__.split(".")
    tests = Path(__file__).parent.parent / folder
    assert list(tests.glob(f"test_{module}*.py")), f"{tests}/test_{module}.py is missing"


def test_every_probe_is_named_by_a_shipped_reason_but_that_for_own_reasons():
    named = {entry.probe for entry in DEFAULT_CATALOGUE.entries.values()} - {""}
    assert set(PROBES) - named == {"cel"}
