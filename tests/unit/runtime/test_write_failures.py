"""Failures of writes, and the results that count them."""

import pytest

from reporter.model.kinds.productionstack.health_event_writes import StoreWriteResult
from reporter.model.rollup.object_status import WriteObjectResult
from reporter.runtime.write_failures import WriteFailure


@pytest.mark.parametrize("results", [StoreWriteResult, WriteObjectResult])
def test_each_failure_is_a_result_of_each_kind_of_object(results):
    assert {results(each).name for each in WriteFailure} == {each.name for each in WriteFailure}
