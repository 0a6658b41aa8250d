"""
How a condition is read.
"""

from reporter.model.kinds.base.conditions import find_condition
from tests.support.builders import a_condition


def test_of_no_conditions_there_is_none_and_go_writes_them_as_null():
    assert find_condition(None, "Ready") is None
    assert find_condition((), "Ready") is None


def test_the_one_of_that_type_is_found():
    ready = a_condition("Ready", "True")
    assert find_condition((a_condition("Other", "True"), ready), "Ready") is ready
