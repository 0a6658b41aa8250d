"""
The configuration of an evaluation, and the moment of a dump.
"""

from datetime import UTC, datetime

import pytest

from reporter.cli.status.sources import evaluation_flags, parse_time
from reporter.runtime.status.pods import ReporterPod
from reporter.settings import SettingsError


def test_of_a_reporter_only_the_flags_that_shape_an_evaluation_are_taken():
    arguments = (
        "--kaito-namespace=kube-system",
        "--settle-seconds=10",
        "--weight-download-min-mbps=5",
        "--leader-elect=false",
        "--status-bind-address=:8082",
        "--log-format=json",
        "--catalogue-overlay=/etc/status-reporter/overlay.yaml",
        "--a-flag-of-a-newer-release=1",
    )
    assert evaluation_flags(ReporterPod("a", "b", arguments=arguments)) == (
        "--kaito-namespace=kube-system",
        "--settle-seconds=10",
        "--weight-download-min-mbps=5",
    )


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00", "2026-01-31T13:00:00+01:00"]
)
def test_a_time_has_a_zone(text):
    assert parse_time(text) == datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["noon", "2026-01-31", "2026-01-31T12:00:00", "-1"])
def test_a_time_without_a_zone_is_refused(text):
    with pytest.raises(SettingsError, match="must be a time such as 2026-01-31T12:00:00Z"):
        parse_time(text)
