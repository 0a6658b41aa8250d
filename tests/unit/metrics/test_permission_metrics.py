"""The series of the permissions that are needed."""

from reporter.metrics.input_collectors import InputReport, PermissionReport
from tests.support.metrics_text import some_metrics
from tests.unit.metrics.metrics_page import MetricsPage
from tests.unit.metrics.test_metrics import SOME


def test_each_permission_has_a_series_and_those_that_could_not_be_reviewed_are_counted():
    reports = [PermissionReport()]
    metrics = some_metrics(SOME, lambda: InputReport(permissions=reports[-1]))
    assert MetricsPage(metrics).value("unknown_rights") == 0
    reports.append(PermissionReport({("list", "pods"): True, ("create", "events"): False}, 3))
    page = MetricsPage(metrics)
    assert page.value("missing_rights", verb="list", resource="pods") == 1
    assert page.value("missing_rights", verb="create", resource="events") == 0
    assert page.value("unknown_rights") == 3
