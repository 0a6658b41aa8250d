"""
The alert on findings, minute by minute, for the metrics pages of replayed cases.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.case_pages import Story, stories_of, warnings
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
ALERT = "ProductionStackFinding"


@cache
def _story(reason: str) -> Story:
    """
    Return a story in which the alert on a reason fires and resolves.
    """
    for story in stories_of(reason):
        if story.resolves(reason):
            return story
    pytest.fail(f"in no case {reason} lasts for a minute and ends")


@pytest.mark.parametrize("reason", warnings())
def test_each_reason_fires_and_its_recovery_resolves(
    rules: Json, reason: str, tmp_path: Path
) -> None:
    story = _story(reason)
    pages = [Phase(1, (minute.page,)) for minute in story.minutes]
    series = [*series_of(pages, metrics_of(rules), cluster="west")]
    firing = {
        minute: [each | {"cluster": "west"} for each in story.alerts(minute)]
        for minute in range(len(story.minutes))
    }
    assert firing_errors(rules, series, firing, tmp_path, alert=ALERT) == ""
