"""The alerts that fire in each state, and when."""

from devcluster.example.team import MODEL, TEAM
from e2e.chart.alerts.capture import State
from e2e.chart.alerts.timeline import NAMESPACE, Phase, samples
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Owner, Reason
from reporter.model.silences import SilenceState
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


Alert = dict[str, str]
OURS = "productionstack_status_reporter_"
FINDING = f"{OURS}finding"
"""Without its series, what is stalled has an alert though it is found."""

BEFORE, LASTS = 20, 90
"""Minutes in which a cluster is healthy, and then is in the state."""

HEALTHY_YET, OVERDUE, LATE = BEFORE - 1, BEFORE + 29, BEFORE + LASTS - 1
BBR = "clusterBBRNotReady"
READ_FROM_PAGES = frozenset(
    entry.reason
    for entry in DEFAULT_CATALOGUE.entries.values()
    if entry.probe and SPECS[entry.probe].scrape is not None
)


def _alert(name: str, severity: str = "warning", **labels: str) -> Alert:
    return {"alertname": f"ProductionStack{name}", "severity": severity, **labels}


def _of_reporter(name: str, severity: str = "warning", **labels: str) -> Alert:
    """Return an alert on the reporter itself, which the platform owns."""
    labels = {"namespace": NAMESPACE, "owner": Owner.PLATFORM, **labels}
    return _alert(f"StatusReporter{name}", severity, **labels)


def of_reason(reason: str, workload_namespace: str = "") -> Alert:
    """
    Return the labels of alerts on what a reason is about. Without a workload, the namespace is that of
    the release.
    """
    entry = DEFAULT_CATALOGUE[Reason(reason)]
    return {
        "namespace": workload_namespace or NAMESPACE,
        "workload_namespace": workload_namespace,
        "layer": entry.layer,
        "reason": reason,
        "owner": entry.owner,
    }


FOUND = _alert("Finding", **of_reason(BBR))
FOUND_OUT = FOUND | {"severity": "critical"}
"""The alert beside it while what is found takes every model down."""

ISTIO_OUT = _alert("Finding", **of_reason("clusterIstioControlPlaneNotReady"))
HARNESS_OUT = _alert("Finding", **of_reason("modelharnessExtAuthzProviderMissing", TEAM))
MISCONFIGURED = _alert(
    "Finding", **of_reason("inferencesetScalingMisconfigured", TEAM), inferenceset=MODEL
)
REPORTER_SILENT = _of_reporter("Silent", "critical")
NOTHING_WATCHED = _of_reporter("NothingWatched", "critical")
SEVERAL_LEADERS = _of_reporter("SeveralLeaders")
STATUS_OUTDATED, PASSES_STALE = _of_reporter("StatusOutdated"), _of_reporter("PassesStale")


def steady(state: State, minutes: int) -> Phase:
    return Phase(minutes, state.before, state.after)


def phases(healthy: State, state: State) -> tuple[Phase, ...]:
    """Return the time before the state, and the state."""
    return steady(healthy, BEFORE), steady(state, LASTS)


def unknown_alerts(state: State) -> list[Alert]:
    """Return one alert for each reason and namespace that a replica cannot evaluate."""
    found = [each for each in _shown(state, "reason_state") if each["state"] == "unknown"]
    return [unknown_alert(each["reason"], each["workload_namespace"]) for each in found]


def unknown_alert(reason: str, workload_namespace: str = "") -> Alert:
    """Return the alert on a reason that cannot be evaluated, which the platform must look at."""
    reads = {"reads": "pages"} if reason in READ_FROM_PAGES else {}
    owned = {**of_reason(reason, workload_namespace), "owner": Owner.PLATFORM}
    return _alert("ReasonUnknown", **owned, **reads)


def watch_alerts(state: State) -> list[Alert]:
    """Return one alert for each kind that is served and that a replica does not watch."""
    lost = {
        labels["kind"]
        for page in state.after
        for (name, pairs), value in samples(page).items()
        if (name, value) == (f"{OURS}watch_up", 0.0) and samples(page)[f"{OURS}kind_served", pairs]
        for labels in [dict(pairs)]
    }
    return [_of_reporter("WatchLost", kind=kind, resource=kind) for kind in sorted(lost)]


def decode_alerts(state: State) -> list[Alert]:
    found = _shown(state, "undecodable_objects")
    return [_of_reporter("DecodeErrors", kind=each["kind"]) for each in found]


def missing_alerts(state: State) -> list[Alert]:
    """Return one alert for each permission that a replica lacks. Those for Events are critical."""
    return [
        _of_reporter(
            "RightMissing", "critical" if labels["resource"] == "events" else "warning", **labels
        )
        for labels in _shown(state, "missing_rights")
    ]


def rights_unknown(state: State) -> list[Alert]:
    return [_of_reporter("RightsUnknown") for _ in _shown(state, "unknown_rights")]


def stalled_alerts(state: State) -> list[Alert]:
    """
    Return one alert for the control plane, and one for each namespace that something else blocks.

    All of them have a reason, so that their code is left out.
    """
    stalled = [e for e in _shown(state, "rollup_blocking_info") if e["stalled"] == "true"]
    cluster = {each["reason"] for each in stalled if each["scope"] == "cluster"}
    silenced = {e["reason"] for e in _shown(state, "reason_state") if e["state"] == "silenced"}
    return [
        _alert("Stalled", **of_reason(each["reason"], each["workload_namespace"]), code="")
        for each in stalled
        if each["reason"] not in silenced
        and (each["scope"] == "cluster" or each["reason"] not in cluster)
    ]


def stalls_without_finding(state: State) -> list[Alert]:
    """Return those that fire, as a finding has an alert of its own."""
    found = {(e["reason"], e["workload_namespace"]) for e in _shown(state, "finding")}
    return [
        e for e in stalled_alerts(state) if (e["reason"], e["workload_namespace"]) not in found
    ]


def _shown(state: State, metric: str) -> list[Alert]:
    """Return the labels of the series of a metric that are not zero on some replica."""
    found = {
        labels
        for page in state.after
        for (name, labels), value in samples(page).items()
        if name == f"{OURS}{metric}" and value
    }
    return [dict(labels) for labels in sorted(found)]


def silence_alerts(state: State) -> list[Alert]:
    """Return one alert for each state, but active, in which there are silences."""
    states = {each["state"] for each in _shown(state, "silences")} - {SilenceState.ACTIVE}
    return [
        _of_reporter(
            "SilenceNotInEffect",
            "info" if each == SilenceState.EXPIRED else "warning",
            state=each,
        )
        for each in sorted(states)
    ]


def own_alerts(name: str) -> list[Alert]:
    """Return the alerts of a state that are not read from its pages."""
    fixed = {
        "finding": [FOUND, FOUND_OUT],
        "api_server_out": [REPORTER_SILENT, NOTHING_WATCHED],
        "suppressed": [ISTIO_OUT],
        "no_leader": [REPORTER_SILENT],
        "two_leaders": [SEVERAL_LEADERS],
        "writes_refused": [FOUND, FOUND_OUT, _of_reporter("EventsNotWritten", result="refused")],
        "one_write_throttled": [FOUND, FOUND_OUT],
        "dropped": [FOUND, FOUND_OUT, _of_reporter("EventDropped", result="dropped")],
        "mirrors_refused": [MISCONFIGURED, _of_reporter("MirrorsNotWritten", result="refused")],
        "mirror_dropped": [MISCONFIGURED, _of_reporter("MirrorDropped", result="dropped")],
        "objects_refused": [_of_reporter("ObjectsNotWritten")],
        "store_refused": [FOUND, FOUND_OUT, _of_reporter("StoreDown")],
        "objects_unread": [_of_reporter("ObjectsNotRead")],
        "overlay_refused": [_of_reporter("OverlayRefused")],
        "harness_out": [HARNESS_OUT],
    }
    return fixed.get(name, [])


def expected_alerts(name: str, state: State) -> list[Alert]:
    from_pages = (
        unknown_alerts,
        watch_alerts,
        decode_alerts,
        missing_alerts,
        rights_unknown,
        stalls_without_finding,
        silence_alerts,
    )
    return [*own_alerts(name), *(each for alerts in from_pages for each in alerts(state))]


def firing_by_minute(name: str, state: State, **external: str) -> dict[int, list[Alert]]:
    """Return the alerts that fire, by minute. One resolves after an hour, some take an hour."""
    alerts = [each | external for each in expected_alerts(name, state)]
    slow = [each for each in alerts if each.get("reason") in READ_FROM_PAGES]
    past = [each for each in alerts if each["alertname"].endswith("Dropped")]
    return {
        HEALTHY_YET: [],
        OVERDUE: [each for each in alerts if each not in slow],
        LATE: [each for each in alerts if each not in past],
    }
