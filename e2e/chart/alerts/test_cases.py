"""The alert on findings, minute by minute, for the metrics pages of replayed cases."""

from functools import cache
from typing import Any

import pytest

from e2e.chart.alerts.case_pages import Story, stories_of, warnings
from e2e.chart.alerts.promtool import AlertTest, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of
from e2e.chart.conftest import AlertErrors


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
ALERT = "ProductionStackFinding"


@cache
def _story(reason: str) -> Story:
    """Return a story in which the alert on a reason fires and resolves."""
    for story in stories_of(reason):
        if story.resolves(reason):
            return story
    raise AssertionError(f"in no case {reason} lasts for a minute and ends")


@pytest.mark.parametrize("reason", warnings())
def test_each_reason_fires_and_its_recovery_resolves(
    rules: Json, reason: str, alert_errors: AlertErrors
) -> None:
    metrics = metrics_of(rules)

    def test(reason: str) -> AlertTest:
        story = _story(reason)
        pages = [Phase(1, (page,)) for page in story.pages()]
        firing = {
            minute: [each | {"cluster": "west"} for each in story.alerts(minute)]
            for minute in range(len(story.minutes))
        }
        return AlertTest([*series_of(pages, metrics, cluster="west")], firing, alert=ALERT)

    assert alert_errors(rules, test) == ""
