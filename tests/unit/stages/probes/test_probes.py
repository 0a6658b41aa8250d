"""Every probe has tests of its verdicts, in the folder that mirrors its own."""

from pathlib import Path

import pytest

from reporter.stages.probes import PROBES


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_has_unit_tests_in_the_folder_of_its_layer(name):
    *folders, module = PROBES[name].evaluate.__module__.split(".")[3:]
    tests = Path(__file__).parent.joinpath(*folders)
    assert list(tests.glob(f"test_{module}*.py")), f"{tests}/test_{module}.py is missing"
