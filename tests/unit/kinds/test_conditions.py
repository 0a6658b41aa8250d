from reporter.kinds.objects import find_condition
from tests.support.builders import a_condition


def test_null_and_an_empty_list_have_no_condition():
    assert find_condition(None, "Ready") is None
    assert find_condition((), "Ready") is None


def test_the_condition_of_the_type_is_found():
    ready = a_condition("Ready", "True")
    assert find_condition((a_condition("Other", "True"), ready), "Ready") is ready
