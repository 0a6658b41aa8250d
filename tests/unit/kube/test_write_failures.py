"""Failures of writes, and the results that count them."""

import pytest

from reporter.kinds.health_events import StoreWriteResult
from reporter.kube.errors import WriteFailure
from reporter.model.object_status import WriteObjectResult


@pytest.mark.parametrize("results", [StoreWriteResult, WriteObjectResult])
def test_each_failure_is_a_result_of_each_kind_of_object(results):
    assert {results(each).name for each in WriteFailure} == {each.name for each in WriteFailure}
