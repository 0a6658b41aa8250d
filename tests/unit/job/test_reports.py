"""The texts of the decision table."""

from datetime import timedelta

import pytest

from reporter.job.reports import go_duration, report_result, report_termination
from reporter.job.result import ValidResult
from reporter.model.job_results import JobCondition, Terminated


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1s"), (45, "45s"), (59, "59s"), (60, "1m0s"), (90, "1m30s"), (300, "5m0s"),
        (3599, "59m59s"), (3600, "1h0m0s"), (3661, "1h1m1s"), (86400, "24h0m0s"),
        (360_000, "100h0m0s"),
    ],
)  # fmt: skip
def test_durations_are_written_as_go_writes_them(seconds, text):
    assert go_duration(timedelta(seconds=seconds)) == text


MISSING = (
    "Adapter container exited successfully (code 0) but did not produce a valid result file: "
)


@pytest.mark.parametrize(
    ("ended", "reason", "message"),
    [
        (
            Terminated(0, "OOMKilled"), "AdapterOOMKilled",
            "Adapter container was killed due to out of memory (OOMKilled)",
        ),
        (
            Terminated(143, ""), "AdapterExitedWithError",
            "Adapter container exited with code 143: ",
        ),
        (
            Terminated(-1, "ContainerStatusUnknown"), "AdapterExitedWithError",
            "Adapter container exited with code -1: ContainerStatusUnknown",
        ),
        (
            Terminated(0, ""), "AdapterMissingResults",
            MISSING,
        ),
    ],
)  # fmt: skip
def test_an_end_becomes_a_reason(ended, reason, message):
    report = report_termination(ended)
    assert (report.is_true, report.reason, report.message, report.exit_code) == (
        False, reason, message, 1,
    )  # fmt: skip


@pytest.mark.parametrize(("is_success", "status"), [(True, "True"), (False, "False")])
def test_a_result_is_a_condition_and_never_a_failure_of_the_sidecar(is_success, status):
    report = report_result(ValidResult(is_success, "R", "m"))
    assert report.exit_code == 0
    assert report.as_condition("Checked") == JobCondition("Checked", status, "R", "m")
