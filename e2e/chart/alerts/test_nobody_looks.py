"""Alerts on what a reporter shows of itself, while all replicas are gone and once they are back."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.chart.alerts.expected import OURS, REPORTER_SILENT, Alert
from e2e.chart.alerts.promtool import AlertTest
from e2e.chart.alerts.timeline import NAMESPACE, selector
from e2e.chart.conftest import AlertErrors


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
GONE, BACK, LED = 30, 40, 5
"""The minutes at which all replicas are gone and are back, and for how many one must have led then."""

RENEWED = f"0+60x{GONE - 1} stale _x{BACK - GONE - 1} {60 * BACK}+60x30"
STUCK = f"5x{GONE - 1} stale _x{BACK - GONE - 1} {60 * BACK}+60x30"
KIND = "productionstackstatuses.reporter.productionstack.kaito.sh"
WEST, EAST = {"cluster": "west", "pod": "west-0"}, {"cluster": "east", "pod": "east-0"}


def _values(ill: str, well: str) -> str:
    """Return the values of a series that are bad until all replicas are gone, and good afterwards."""
    return f"{ill}x{GONE - 1} stale _x{BACK - GONE - 1} {well}x30"


def _one(name: str, values: str, **labels: str) -> Json:
    return {"series": selector(OURS + name, WEST | labels), "values": values}


WELL = {
    "leader": _values("1", "1"),
    "findings_complete": _values("1", "1"),
    "last_pass_timestamp_seconds": RENEWED,
    "rollup_evaluated_timestamp_seconds": RENEWED,
    "unknown_rights": _values("0", "0"),
    "watch_up": _values("1", "1"),
}
LABELS = {"watch_up": {"kind": "pods"}, "rollup_evaluated_timestamp_seconds": {"cluster_uid": "7"}}


def _series(**ill: str) -> list[Json]:
    """Return the series of a leader that is well but for *ill*, beside another cluster that is well."""
    found = [_one(name, v, **LABELS.get(name, {})) for name, v in (WELL | ill).items()]
    always = {"leader": "1x80", "last_pass_timestamp_seconds": "0+60x80"}
    always["rollup_evaluated_timestamp_seconds"] = "0+60x80"
    found += [{"series": selector(OURS + name, EAST), "values": v} for name, v in always.items()]
    return found


def _alert(name: str, severity: str = "warning", **labels: str) -> Alert:
    owned = {"owner": "platform", "namespace": NAMESPACE, "cluster": "west"}
    return (
        {"alertname": f"ProductionStackStatusReporter{name}", "severity": severity}
        | owned
        | labels
    )


BAD = _values("2", "0")
SECOND = _one("leader", _values("1", "0"), pod="west-1")
UNWATCHED = _one("watch_up", _values("0", "1"), kind=KIND)
SILENCES = _one("silences", BAD, state="malformed")
STATES: Mapping[str, tuple[list[Json], Alert, int]] = {
    "two lead": ([*_series(), SECOND], _alert("SeveralLeaders"), 0),
    "no pass ends": (_series(last_pass_timestamp_seconds=STUCK), _alert("PassesStale"), 1),
    "no roll-up": (_series(rollup_evaluated_timestamp_seconds=STUCK), _alert("StatusOutdated"), 1),
    "no watch": (_series(watch_up=_values("0", "1")), _alert("NothingWatched", "critical"), 0),
    "unread objects": (_series(undecodable_objects=BAD), _alert("DecodeErrors"), 0),
    "no review": (_series(unknown_rights=BAD), _alert("RightsUnknown"), 0),
    "left out": (_series(inferenceset_series_left_out=BAD), _alert("SeriesLeftOut"), 0),
    "overlay": (_series(overlay_refused=_values("1", "0")), _alert("OverlayRefused"), 0),
    "silences": ([*_series(), SILENCES], _alert("SilenceNotInEffect", state="malformed"), 0),
    "objects": (_series(status_objects_failing=BAD), _alert("ObjectsNotWritten"), LED),
    "unwatched objects": ([*_series(), UNWATCHED], _alert("ObjectsNotRead"), 0),
    "store": (_series(store_up=_values("0", "1")), _alert("StoreDown"), LED),
}


@pytest.mark.parametrize("name", STATES)
def test_nothing_resolves_because_nobody_looks(
    rules: Json, alert_errors: AlertErrors, name: str
) -> None:
    def test(name: str) -> AlertTest:
        series, alert, ends = STATES[name]
        silent = REPORTER_SILENT | {"cluster": "west"}
        firing = {
            GONE - 1: [alert],
            GONE + 1: [alert],
            BACK - 1: [alert, silent],
            BACK + ends: [],
            BACK + 20: [],
        }
        if ends == LED:
            firing[BACK + LED - 1] = [alert]
        return AlertTest(series, firing)

    assert alert_errors(rules, test) == ""
