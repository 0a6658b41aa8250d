"""The series of a hub and its rules, for tests of its alerts."""

from collections.abc import Mapping

from e2e.chart.alerts.timeline import selector
from e2e.chart.helm import Helm
from e2e.chart.hub.rendered import NAME, NAMESPACE, Json, objects_of_hub, rendered_hub
from reporter.hub.metric_declarations import (
    HUB_CLUSTER,
    HUB_CLUSTERS,
    HUB_DROPPED_SERIES,
    HUB_LAST_SUCCESS,
    HUB_LEADER,
    HUB_METRICS,
    HUB_OBJECTS_FAILING,
    HUB_QUERY_RESULTS,
)
from reporter.model.fleet_status import Dropped, FleetCode, QueryName, QueryResult
from reporter.model.states import State


def hub_rules(helm: Helm, *words: str) -> Json:
    objects = rendered_hub(helm, "--set=prometheusRule.enabled=true", *words)
    found: Json = objects_of_hub(objects)["PrometheusRule"]["spec"]
    return found


TARGET = {"job": NAME, "pod": "hub-0", "namespace": NAMESPACE}
LEASE = f"{NAMESPACE}/{NAME}"
OF_LEASE = {each.full_name for each in HUB_METRICS if "hub" in each.labels}


def hub_series(pod: str = "hub-0", **values: str) -> list[Json]:
    """Return the series of a replica, healthy but for *values* by the name of a state below."""
    target = TARGET | {"pod": pod}
    found = [
        one_series(HUB_LEADER.full_name, target, values.get("leader", "1+0x60")),
        one_series(HUB_LAST_SUCCESS.full_name, target, values.get("success", "0+60x60")),
        one_series(HUB_OBJECTS_FAILING.full_name, target, values.get("failing", "0+0x60")),
    ]
    known = one_series(
        HUB_CLUSTERS.full_name, target | {"state": "current"}, values.get("known", "1x60")
    )
    found.append(known)
    found += [
        cluster_series("west", values[code], target, code=code.value)
        for code in FleetCode
        if code in values
    ]
    for why in Dropped:
        labels = target | {"why": why.value}
        found.append(one_series(HUB_DROPPED_SERIES.full_name, labels, values.get(why, "0+0x60")))
    for result in (QueryResult.COMPLETE, QueryResult.PARTIAL):
        labels = target | {"query": QueryName.CLUSTERS.value, "result": result.value}
        usual = "0+2x60" if result is QueryResult.COMPLETE else "0+0x60"
        found.append(one_series(HUB_QUERY_RESULTS.full_name, labels, values.get(result, usual)))
    return [each for each in found if each["values"]]


def one_series(name: str, labels: Mapping[str, str], values: str) -> Json:
    """Return a series of this hub, unless the labels name another one."""
    own = {"hub": LEASE} if name in OF_LEASE else {}
    return {"series": selector(name, {**own, **labels}), "values": values}


def cluster_series(
    name: str, values: str, target: Mapping[str, str] = TARGET, **changes: str
) -> Json:
    """Return the series of a cluster, which the hub calls Unknown unless it is told otherwise."""
    usual = {"owner": "platform", "silenced": "false", "observed": "true"}
    labels = {"state": State.UNKNOWN.key, **usual, **changes}
    return one_series(HUB_CLUSTER.full_name, {**target, **labels, "cluster": name}, values)


def hub_alert(name: str, severity: str, **labels: str) -> dict[str, str]:
    return {
        "alertname": f"ProductionStack{name}",
        "severity": severity,
        "owner": "platform",
        "hub": LEASE,
        **labels,
    }


CRITICAL = {"namespace": NAMESPACE, "severity": "critical"}
