"""
The rows of the decision table: what a result, an end or the deadline becomes.

The texts are those of the status reporter of openshift-hyperfleet, which this sidecar replaces
without a change of the Job: other programs compare them.
"""

from datetime import timedelta

from msgspec import Struct

from reporter.job.result import InvalidResult, ValidResult
from reporter.model.job_results import JobCondition, Terminated


OOM_KILLED = "OOMKilled"
"""The reason that the kubelet gives a container that ran out of memory."""


class Report(Struct, frozen=True):
    """A condition to write, and the exit code once it is written."""

    is_true: bool
    reason: str
    message: str
    exit_code: int

    def as_condition(self, condition_type: str) -> JobCondition:
        """
        Return the condition for the status of the Job; its status is "True" or "False", never "Unknown".
        """
        return JobCondition(
            condition_type, "True" if self.is_true else "False", self.reason, self.message
        )


def report_result(result: ValidResult) -> Report:
    """
    Return the report of the result that the adapter wrote itself, with the exit code 0.

    A failure that the adapter reports is no failure of the sidecar.
    """
    return Report(result.is_success, result.reason, result.message, 0)


def report_invalid(invalid: InvalidResult) -> Report:
    """Return the report, with the exit code 1, for a result file that is unreadable or no result."""
    return _failed("InvalidResultFormat", f"Failed to parse adapter result: {invalid.error}")


def report_termination(ended: Terminated) -> Report:
    """
    Return the report for an adapter container that ended without a valid result file.

    The reason tells apart OOMKilled, an exit code other than 0, and an exit with 0. The exit code of the
    sidecar is 1.
    """
    if ended.reason == OOM_KILLED:
        return _failed(
            "AdapterOOMKilled", "Adapter container was killed due to out of memory (OOMKilled)"
        )
    if ended.exit_code != 0:
        return _failed(
            "AdapterExitedWithError",
            f"Adapter container exited with code {ended.exit_code}: {ended.reason}",
        )
    return _failed(
        "AdapterMissingResults",
        "Adapter container exited successfully (code 0) but did not produce a valid result file: "
        f"{ended.reason}",
    )


def report_timeout(max_wait: timedelta) -> Report:
    """Return the report, with the exit code 1, for an adapter that left no result in *max_wait*."""
    return _failed(
        "AdapterTimeout", f"Adapter did not produce results within {go_duration(max_wait)}"
    )


def go_duration(duration: timedelta) -> str:
    """Format whole seconds as Go's time.Duration does: ``45s``, ``5m0s``, ``1h0m0s``."""
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def _failed(reason: str, message: str) -> Report:
    return Report(is_true=False, reason=reason, message=message, exit_code=1)
