"""
The alerts that fire in each state, and when.
"""

from e2e.chart.alerts.states import State
from e2e.chart.alerts.timeline import NAMESPACE, samples
from reporter.stages.probes.specs import SPECS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.status_objects import STATUSES


Alert = dict[str, str]
OURS = "productionstack_status_reporter_"
BEFORE, LASTS = 20, 90
"""
Minutes in which a cluster is healthy, and then is in the state.
"""

HEALTHY_YET, OVERDUE, LATE = BEFORE - 1, BEFORE + 29, BEFORE + LASTS - 1
BBR = "clusterBBRNotReady"
READ_FROM_PAGES = frozenset(
    entry.reason
    for entry in DEFAULT_CATALOGUE.entries.values()
    if entry.probe and SPECS[entry.probe].scrape is not None
)


def _alert(name: str, severity: str = "warning", **labels: str) -> Alert:
    return {"alertname": f"ProductionStack{name}", "severity": severity, **labels}


def _of_reporter(name: str, **labels: str) -> Alert:
    return _alert(f"StatusReporter{name}", namespace=NAMESPACE, **labels)


FOUND = _alert("Finding", namespace=NAMESPACE, layer="cluster", reason=BBR)
REPORTER_SILENT = _alert("StatusReporterSilent", "critical")


def unknown_alerts(state: State) -> list[Alert]:
    """
    Return one alert for each reason and namespace that a replica cannot evaluate.
    """
    found = {
        labels
        for page in state.after
        for (name, labels), value in samples(page).items()
        if name == f"{OURS}unknown" and value
    }
    alert = _alert("ReasonUnknown", namespace=NAMESPACE)
    return [alert | dict(labels) for labels in sorted(found)]


def expected_alerts(name: str, state: State) -> list[Alert]:
    fixed = {
        "finding": [FOUND],
        "suppressed": [FOUND | {"reason": "clusterIstioControlPlaneNotReady"}],
        "no_leader": [REPORTER_SILENT],
        "two_leaders": [_of_reporter("SeveralLeaders")],
        "writes_refused": [FOUND, _of_reporter("EventsNotWritten", result="refused")],
        "one_write_throttled": [FOUND],
        "dropped": [FOUND, _of_reporter("EventDropped", result="dropped")],
        "objects_refused": [_of_reporter("ObjectsNotWritten")],
        "store_refused": [FOUND, _of_reporter("StoreDown")],
        "objects_unread": [_of_reporter("ObjectsNotRead", kind=STATUSES)],
    }
    return [*fixed.get(name, []), *unknown_alerts(state)]


def firing_by_minute(name: str, state: State, **external: str) -> dict[int, list[Alert]]:
    """
    Return the alerts that fire, by minute. One resolves after an hour, some reasons take an hour.
    """
    alerts = [each | external for each in expected_alerts(name, state)]
    slow = [each for each in alerts if each.get("reason") in READ_FROM_PAGES]
    past = [each for each in alerts if each["alertname"].endswith("EventDropped")]
    return {
        HEALTHY_YET: [],
        OVERDUE: [each for each in alerts if each not in slow],
        LATE: [each for each in alerts if each not in past],
    }
