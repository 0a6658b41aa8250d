"""
The alerts that fire in each state, and when.
"""

from e2e.chart.alerts.states import State
from e2e.chart.alerts.timeline import NAMESPACE, Phase, samples
from reporter.embedded.example.team import TEAM
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
HARNESS_OUT = _alert(
    "Finding",
    namespace=NAMESPACE,
    layer="modelharness",
    reason="modelharnessExtAuthzProviderMissing",
    workload_namespace=TEAM,
)
REPORTER_SILENT = _alert("StatusReporterSilent", "critical")
STATUS_OUTDATED = _of_reporter("StatusOutdated")


def steady(state: State, minutes: int) -> Phase:
    return Phase(minutes, state.before, state.after)


def phases(healthy: State, state: State) -> tuple[Phase, ...]:
    """
    Return the time before the state, and the state.
    """
    return steady(healthy, BEFORE), steady(state, LASTS)


def unknown_alerts(state: State) -> list[Alert]:
    """
    Return one alert for each reason and namespace that a replica cannot evaluate.
    """
    alert = _alert("ReasonUnknown", namespace=NAMESPACE)
    return [alert | labels for labels in _shown(state, "unknown")]


def missing_alerts(state: State) -> list[Alert]:
    """
    Return one alert for each permission that a replica lacks. Those for Events are critical.
    """
    return [
        _of_reporter("RightMissing", **labels)
        | ({"severity": "critical"} if labels["resource"] == "events" else {})
        for labels in _shown(state, "missing_rights")
    ]


def rights_unknown(state: State) -> list[Alert]:
    return [_of_reporter("RightsUnknown") for _ in _shown(state, "unknown_rights")]


def stalled_alerts(state: State) -> list[Alert]:
    """
    Return one alert for the control plane, and one for each namespace that something else blocks.
    """
    stalled = [each for each in _shown(state, "rollup_blocking_info") if each["stalled"] == "true"]
    cluster = {each["reason"] for each in stalled if each["scope"] == "cluster"}
    return [
        _alert("Stalled", namespace=NAMESPACE, **each)
        for each in stalled
        if each["scope"] == "cluster" or each["reason"] not in cluster
    ]


def _shown(state: State, metric: str) -> list[Alert]:
    """
    Return the labels of the series of a metric that are not zero on some replica.
    """
    found = {
        labels
        for page in state.after
        for (name, labels), value in samples(page).items()
        if name == f"{OURS}{metric}" and value
    }
    return [dict(labels) for labels in sorted(found)]


def own_alerts(name: str) -> list[Alert]:
    """
    Return the alerts of a state that are not read from its pages.
    """
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
        "harness_out": [HARNESS_OUT],
    }
    return fixed.get(name, [])


def expected_alerts(name: str, state: State) -> list[Alert]:
    from_pages = (unknown_alerts, missing_alerts, rights_unknown, stalled_alerts)
    return [*own_alerts(name), *(each for alerts in from_pages for each in alerts(state))]


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
