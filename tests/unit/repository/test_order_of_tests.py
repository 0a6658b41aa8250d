"""The order in which tests run, and so in which their failures are shown."""

from types import SimpleNamespace

from tests.conftest import pytest_collection_modifyitems


def collected(*nodeids: str) -> list[str]:
    """Return the order in which these tests run."""
    items = [SimpleNamespace(nodeid=each, fixturenames=()) for each in nodeids]
    pytest_collection_modifyitems(items)
    return [each.nodeid for each in items]


def test_a_case_comes_before_whatever_else_a_broken_probe_fails():
    case, other = "tests/cases/test_cases.py::test_a", "tests/cases/test_all_reasons_on.py::test_a"
    pure, integrated = "tests/unit/test_a.py::test_a", "tests/integration/test_a.py::test_a"
    assert collected(integrated, other, case, pure) == [case, other, integrated, pure]


def test_tests_on_a_control_plane_which_take_long_do_not_wait_for_the_others():
    ids = [
        "e2e/suite/test_a.py::test_a",
        "tests/cases/test_cases.py::test_a",
        "tests/b.py::test_b",
    ]
    assert collected(*ids) == ids
