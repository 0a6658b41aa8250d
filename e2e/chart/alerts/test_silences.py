"""
The alert on findings while some InferenceSets of a namespace are silenced and others are not.
"""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.case_pages import Story, story_of
from e2e.chart.alerts.expected import Alert
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of
from reporter.resources.scaling_annotations import ANNOTATION_PREFIX


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
ALERT, REASON = "ProductionStackFinding", "inferencesetScalingMisconfigured"
WRONG = {f"{ANNOTATION_PREFIX}auto-provision": "true", f"{ANNOTATION_PREFIX}max-replicas": "0"}
RIGHT = {f"{ANNOTATION_PREFIX}auto-provision": "false"}
SILENCE = "reporter.productionstack.kaito.sh/silence-"
SILENCED = {f"{SILENCE}until": "2026-05-01T12:20:00Z", f"{SILENCE}reasons": "all"}
BOTH, PHI_IS_WELL, ENDED = 10, 17, 23
"""
Minutes at which both have trouble, at which only the silenced one has, and after the silence.
"""


def _annotated(**sets: Json) -> Json:
    changes = sets.items()
    return {f"InferenceSet team-m/{n}": {"metadata": {"annotations": a}} for n, a in changes}


CASE: Json = {
    "why": "Of two InferenceSets with the same trouble one is silenced.",
    "of": [REASON],
    "given": {
        "change": {
            "InferenceSet team-m/phi": {"spec": {"replicas": 1}},
            "Workspace team-m/phi-w": {"of": "phi", "state": "Ready"},
            "Pod team-m/phi-w-0": {"model": "phi"},
        }
    },
    "story": [
        {"at": "1m", "change": _annotated(qwen={**WRONG, **SILENCED}, phi=WRONG)},
        {"at": "15m", "change": _annotated(phi=RIGHT)},
    ],
    "until": "25m",
}


def _firing(story: Story, minute: int) -> list[Alert]:
    """Return the alerts on the reason by InferenceSet, as the program has its findings."""
    return [each for each in story.alerts(minute) if each["reason"] == REASON]


def test_what_is_not_silenced_fires_beside_what_is(rules: Json, tmp_path: Path) -> None:
    story = story_of(CASE)
    pages = [Phase(1, (page,)) for page in story.pages()]
    series = [*series_of(pages, metrics_of(rules))]
    firing = {minute: story.alerts(minute) for minute in (BOTH, PHI_IS_WELL, ENDED)}
    found = {
        minute: [each["inferenceset"] for each in _firing(story, minute)] for minute in firing
    }
    assert found == {BOTH: ["phi"], PHI_IS_WELL: [], ENDED: ["qwen"]}
    assert firing_errors(rules, series, firing, tmp_path, alert=ALERT) == ""
