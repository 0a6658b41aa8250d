"""The alert on findings while all replicas are replaced, and once the trouble has ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts.capture import States
from e2e.chart.alerts.case_pages import CaseCourse, Story, story_of
from e2e.chart.alerts.expected import (
    BEFORE,
    FOUND,
    FOUND_OUT,
    HEALTHY_YET,
    REPORTER_SILENT,
    Alert,
    expected_alerts,
    steady,
)
from e2e.chart.alerts.promtool import alerts_of, firing_errors, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of
from e2e.chart.helm import Helm
from tests.support.cases import case_catalogue


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
NAME = "ProductionStackFinding"
UNKNOWN = "ProductionStackReasonUnknown"
LASTS, GAP = 20, 2
BOTH = [FOUND, FOUND_OUT]
GONE = BEFORE + LASTS
"""The minute from which no replica is scraped."""


def _firing_errors(
    rules: Json,
    states: States,
    phases: tuple[Phase, ...],
    firing: Mapping[int, list[Alert]],
    folder: Path,
) -> str:
    """Compare the alerts after a finding of LASTS minutes in a cluster that was healthy."""
    found = (steady(states["healthy"], BEFORE), steady(states["finding"], LASTS), *phases)
    series = [*series_of(found, metrics_of(rules), cluster="west")]
    expected: dict[int, list[Alert]] = {HEALTHY_YET: [], GONE - 1: BOTH, **firing}
    named = {at: [each | {"cluster": "west"} for each in e] for at, e in expected.items()}
    return firing_errors(rules, series, named, folder, alert=NAME)


def test_it_fires_on_while_all_replicas_are_replaced(
    rules: Json, states: States, tmp_path: Path
) -> None:
    """It resolves with the first page that shows the recovery."""
    back, well = GONE + GAP, GONE + GAP + LASTS
    phases = (Phase(GAP), steady(states["finding"], LASTS), steady(states["healthy"], LASTS))
    firing = dict.fromkeys((*range(GONE, back + 3), well - 1), BOTH)
    firing |= {well: [], well + LASTS - 1: []}
    assert _firing_errors(rules, states, phases, firing, tmp_path) == ""


def test_a_recovery_meanwhile_resolves_it_with_the_first_page(
    rules: Json, states: States, tmp_path: Path
) -> None:
    back = GONE + GAP
    phases = (Phase(GAP), steady(states["healthy"], LASTS))
    firing = {back - 1: BOTH, back: [], back + LASTS - 1: []}
    assert _firing_errors(rules, states, phases, firing, tmp_path) == ""


HOUR, DAY = 60, 24 * 60


WRITTEN_AGAIN = 8
"""Minutes until Events count as accepted again: five without a failure, and five with a leader."""


@pytest.mark.parametrize(
    ("name", "gone", "ends"),
    [
        ("finding", 3 * DAY, 0),
        ("watch_lost", DAY, 0),
        ("watch_lost", 2 * HOUR, 0),
        ("writes_refused", 2 * HOUR, WRITTEN_AGAIN),
    ],
)
def test_it_fires_on_while_nobody_evaluates_beside_another_cluster(
    rules: Json, states: States, name: str, gone: int, ends: int, tmp_path: Path
) -> None:
    """
    The reporter is killed for days amid the trouble, comes back amid it, and only then it ends.

    Other tests evaluate the other rules: each takes seconds for so many minutes. What cannot be evaluated
    is many alerts, so it is followed for hours alone.
    """
    healthy, state = states["healthy"], states[name]
    # A page that cannot be read is an alert after an hour only.
    every = [each for each in expected_alerts(name, state) if "reads" not in each]
    expected = [each for each in every if gone < DAY or each["alertname"] != UNKNOWN]
    named = {REPORTER_SILENT["alertname"], *(each["alertname"] for each in expected)}
    kept_rules = [each for each in alerts_of(rules) if each["alert"] in named]
    rules = {"groups": [{"name": "kept", "rules": kept_rules}]}
    back = GONE + gone
    well = back + LASTS
    course = (
        *(steady(healthy, BEFORE), steady(state, LASTS)),
        *(Phase(gone), steady(state, LASTS), steady(healthy, LASTS)),
    )
    series = [*series_of(course, metrics_of(rules), cluster="west")]
    series += series_of((steady(healthy, well + LASTS),), metrics_of(rules), cluster="east")
    silent = [*expected, REPORTER_SILENT]
    looks = [at for at in (10, HOUR, DAY - 1, 3 * DAY - 1) if at < gone]
    firing: dict[int, list[Alert]] = {
        HEALTHY_YET: [],
        GONE + 1: expected,
        **{GONE + at: silent for at in looks},
        back + 1: expected,
        well - 1: expected,
        well + ends: [],
        well + LASTS - 1: [],
    }
    in_west = {at: [each | {"cluster": "west"} for each in e] for at, e in firing.items()}
    assert firing_errors(rules, series, in_west, tmp_path) == ""


def test_a_value_makes_it_fire_on_after_a_recovery(
    helm: Helm, states: States, tmp_path: Path
) -> None:
    """It is no default, because each recovery is shown so much later."""
    words = f"--set=prometheusRule.enabled=true,prometheusRule.rules.{NAME}.keepFiringFor=5m"
    rendered = helm.render(CHART, words, golden.OPERATOR)
    (rules,) = (dict(e["spec"]) for e in rendered if e["kind"] == "PrometheusRule")
    phases = (steady(states["healthy"], LASTS),)
    firing = {GONE + 4: BOTH, GONE + LASTS - 1: []}
    assert _firing_errors(rules, states, phases, firing, tmp_path) == ""


def test_one_severity_for_all_makes_one_alert_of_a_finding(
    helm: Helm, states: States, tmp_path: Path
) -> None:
    """Two series that differ in nothing else would be one alert twice, which Prometheus refuses."""
    words = f"--set=prometheusRule.enabled=true,prometheusRule.rules.{NAME}.severity=page"
    rendered = helm.render(CHART, words, golden.OPERATOR)
    (rules,) = (dict(e["spec"]) for e in rendered if e["kind"] == "PrometheusRule")
    series = [*series_of((steady(states["finding"], LASTS),), metrics_of(rules))]
    firing = {LASTS - 1: [FOUND | {"severity": "page"}]}
    assert firing_errors(rules, series, firing, tmp_path, alert=NAME) == ""


# ---------------------------------------------------------------- held anew


KAITO = "clusterKaitoControllerNotReady"
CONTROLLER = "Deployment kaito-system/kaito-workspace"
HOLD = dict.fromkeys(("declared", "failed", "lost", "starting"), "5m")
DELETED, HELD, AGAIN = 10, 17, 24
"""Minutes at which it has been announced, is held by a new process, and has outlived that hold."""


def _case(at: str, *, until: str) -> Json:
    """
    Return a case in which a Deployment that was deleted comes back *at* a time; none states since when.
    """
    pod = "Pod kaito-system/kaito-workspace-6c9f-x1"
    return {
        "why": "Of something that is missing a new process does not know since when.",
        "of": [KAITO],
        "overlay": {"reasons": {KAITO: {"hold": HOLD}}},
        "story": [
            {"at": "1m", "change": {CONTROLLER: None, pod: None}},
            {"at": "15m30s", "restart": "5s"},
            {"at": at, "change": {CONTROLLER: {"replicas": 1}}},
        ],
        "until": until,
    }


class _EventsExpired(CaseCourse):
    """
    A replay in which a new process finds no Events, so that it holds anew what its predecessor announced.
    """

    def restart(self, *, back_after: float = 0.0) -> "_EventsExpired":
        self.writes.clear()
        super().restart(back_after=back_after)
        return self


ENDS = pytest.mark.parametrize(
    ("back", "until", "held", "after"),
    [("30m30s", "40m", True, 35), ("18m30s", "30m", False, 19)],
    ids=["recovers later", "recovers while it is held"],
)


@ENDS
def test_it_fires_on_while_a_new_process_holds_the_finding(
    rules: Json, back: str, until: str, held: bool, after: int, tmp_path: Path
) -> None:
    case = _case(back, until=until)
    story = Story(case_catalogue(case), _EventsExpired(case).run().steps)
    series = [*series_of([Phase(1, (page,)) for page in story.pages()], metrics_of(rules))]
    announced = story.alerts(DELETED)
    assert [each["reason"] for each in announced] == [KAITO]
    assert story.alerts(HELD) == story.alerts(after) == []
    firing = {DELETED: announced, HELD: announced, after: []}
    if held:
        assert story.alerts(AGAIN) == announced
        firing |= dict.fromkeys(range(DELETED, AGAIN + 1), announced)
    assert firing_errors(rules, series, firing, tmp_path, alert=NAME) == ""


@ENDS
def test_it_fires_on_while_a_new_process_continues_the_finding(
    rules: Json, back: str, until: str, held: bool, after: int, tmp_path: Path
) -> None:
    """The process holds nothing anew that the Events of its predecessor tell."""
    story = story_of(_case(back, until=until))
    series = [*series_of([Phase(1, (page,)) for page in story.pages()], metrics_of(rules))]
    announced = story.alerts(DELETED)
    assert [each["reason"] for each in announced] == [KAITO]
    lasts = range(DELETED, AGAIN + 1 if held else HELD + 1)
    assert all(story.alerts(minute) == announced for minute in lasts)
    assert story.alerts(after) == []
    firing = dict.fromkeys(lasts, announced) | {after: []}
    assert firing_errors(rules, series, firing, tmp_path, alert=NAME) == ""
