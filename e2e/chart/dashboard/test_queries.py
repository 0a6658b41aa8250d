"""Every query of the dashboard, run in a real Prometheus on the metrics pages of a replay."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from e2e.chart.alerts.case_pages import CaseCourse, Story
from e2e.chart.dashboard.panels import ALL, DASHBOARD, Query, queries, query_of
from e2e.chart.dashboard.prometheus import Prometheus, prometheus_with
from reporter.evaluation.finished_pass import FinishedPass
from reporter.kube.event_record import WriteResult
from reporter.kube.leadership import NoElection
from reporter.metrics.input_collectors import InputReport, PermissionReport, WatchReport
from reporter.metrics.page import Metrics
from reporter.process.clock import Clock
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.settings import RollUpScope
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.settings import settings


pytestmark = pytest.mark.controlplane
"""Prometheus and promtool are built together with the control plane."""

Json = dict[str, Any]
TARGET = {
    "cluster": "west",
    "instance": "10.0.0.1:8080",
    "job": "reporter",
    "namespace": "kaito-system",
    "pod": "stack-status-reporter-0",
}
BEGUN, ENDS, UNTIL = 2, 14, 30
"""Minutes at which trouble begins and ends, and of the whole story."""

SILENCED, SILENCED_UNTIL = "modelharnessGatewayDataPlaneNotReady", "2026-05-01T12:20:00Z"
PROGRAMMED = {"type": "Programmed", "observedGeneration": 1}
FAILED = {**PROGRAMMED, "status": "False", "reason": "Invalid", "message": "bad listener"}
WELL = {**PROGRAMMED, "status": "True", "reason": "Programmed"}
ACCEPTED = {"type": "Accepted", "status": "True", "reason": "Accepted", "observedGeneration": 1}
STORY = {
    "why": "istiod is out, a Gateway follows from it, a model cannot pull its image, and a data plane "
    "is silenced.",
    "of": ["clusterIstioControlPlaneNotReady", "inferencesetModelPodsNotReady"],
    "story": [
        {
            "at": f"{BEGUN - 1}m",
            "silences": [
                {
                    "namespace": "team-a",
                    "reasons": [SILENCED],
                    "until": SILENCED_UNTIL,
                    "by": "bob",
                }
            ],
        },
        {
            "at": f"{BEGUN}m",
            "change": {
                "Deployment istio-system/istiod": {"replicas": 0},
                "Deployment team-a/team-a-gw-istio": {"replicas": 0},
                "Gateway team-m/team-m-gw": {"status": {"conditions": [ACCEPTED, FAILED]}},
                "Pod team-m/qwen-7rk2p-0": {
                    "model": "qwen",
                    "ready": False,
                    "waiting": "ErrImagePull",
                },
            },
        },
        {
            "at": f"{ENDS}m",
            "change": {
                "Deployment istio-system/istiod": {"replicas": 1},
                "Deployment team-a/team-a-gw-istio": {"replicas": 1},
                "Gateway team-m/team-m-gw": {"status": {"conditions": [ACCEPTED, WELL]}},
                "Pod team-m/qwen-7rk2p-0": {"ready": True, "waiting": None},
            },
        },
    ],
    "until": f"{UNTIL}m",
}


class _WholeMetrics(Metrics):
    """Metrics with what a whole process shows beside the states, so that no panel is empty."""

    def __init__(self) -> None:
        watch = WatchReport(
            kind="pods",
            watching=True,
            last_event_age=1.0,
            objects=1,
            relists=0,
            restarts=0,
            decode_errors=0,
            missed_events=0,
        )
        inputs = InputReport([watch], PermissionReport({("list", "pods"): False}))
        super().__init__(DEFAULT_CATALOGUE, lambda: inputs, NoElection(), Clock())
        self.show_findings(dict, knows_episodes=lambda: True)
        self._rollup = RollUp()
        self.show_rollup(lambda: self._rollup, RollUpScope.CLUSTER, version="1.2.3")

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        self.count_write(WriteResult.PATCHED)
        self.count_api_request("list", 200)
        self.observe_loop_lag(0.01)
        given = RollUpInput(**structs.asdict(finished), episodes={})
        self._rollup = fold(
            self._rollup, given, RollUpRules(DEFAULT_CATALOGUE, settings().flag_texts)
        )
        return super().follow(finished)


class _WholeCourse(CaseCourse):
    def _new_metrics(self, case: Any) -> Metrics:
        return _WholeMetrics()

    def run_pass(self) -> "_WholeCourse":
        """Run a pass whose roll-up counts the replicas of that moment."""
        super().run_pass()
        finished = self.steps[-1]
        assert isinstance(finished, FinishedPass)
        self.steps[-1] = structs.replace(finished, snapshot=self.store.snapshot())
        return self


@pytest.fixture(scope="module")
def prometheus() -> Iterator[Prometheus]:
    pages = [*Story(DEFAULT_CATALOGUE, _WholeCourse(STORY).run().steps).pages()]
    with prometheus_with(pages, NOON, TARGET) as found:
        yield found


def _values_of(prometheus: Prometheus, variable: Json) -> list[str]:
    """
    Return the values that Grafana offers for a variable whose query is label_values(selector, label).
    """
    text = variable["query"]["query"].replace("$cluster", ALL)
    selector, label = text.removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
    return prometheus.label_values(selector, label)


def _minute(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


def _rows(found: list[Json], *labels: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(each["metric"].get(label, "") for label in labels): float(each["value"][1])
        for each in found
    }


def _values(found: list[Json], *labels: str) -> dict[tuple[str, ...], dict[int, float]]:
    """Return the values of each series by minute."""
    return {
        tuple(each["metric"].get(label, "") for label in labels): {
            round((moment - NOON.timestamp()) / 60): float(value)
            for moment, value in each["values"]
        }
        for each in found
    }


@pytest.mark.parametrize("query", queries(), ids=lambda each: f"{each.panel} {each.ref}")
def test_each_panel_has_data_while_there_is_trouble(prometheus: Prometheus, query: Query) -> None:
    middle = _minute((BEGUN + ENDS) // 2)
    if query.instant:
        assert prometheus.instant(query.sent(), middle)
    else:
        shown = prometheus.range(query.sent())
        assert shown
        assert any(value[1] != "NaN" for series in shown for value in series["values"])


@pytest.mark.parametrize("query", queries(), ids=lambda each: f"{each.panel} {each.ref}")
def test_each_panel_works_with_one_namespace_and_owner_chosen(
    prometheus: Prometheus, query: Query
) -> None:
    chosen = query.sent(cluster="west", namespace="team-m", owner="user")
    assert "$" not in chosen.replace("$1", "")
    prometheus.instant(chosen, _minute(ENDS))


def test_what_is_wrong_has_its_time_its_owner_and_nothing_that_follows_from_another(
    prometheus: Prometheus,
) -> None:
    query = query_of("What is wrong, and since when").sent()
    found = _rows(prometheus.instant(query, _minute(10)), "reason", "inferenceset", "owner")
    begun = _minute(BEGUN).timestamp() * 1000
    owners = {
        reason: DEFAULT_CATALOGUE[reason].owner.value for reason in DEFAULT_CATALOGUE.entries
    }
    istio, pods = "clusterIstioControlPlaneNotReady", "inferencesetModelPodsNotReady"
    assert found == {
        (istio, "", owners[istio]): begun,
        (pods, "qwen", owners[pods]): begun,
    }
    assert prometheus.instant(query, _minute(UNTIL)) == []


def test_each_model_has_its_replicas_and_whether_it_is_available(prometheus: Prometheus) -> None:
    found = [query for query in queries() if query.panel == "Replicas and availability"]
    amid, after = _minute((BEGUN + ENDS) // 2), _minute(UNTIL - 1)
    qwen = ("west", "team-m", "qwen")
    for moment, expected in ((amid, [1, 0, 0]), (after, [1, 1, 1])):
        shown = [
            _rows(
                prometheus.instant(query.sent(), moment),
                "cluster",
                "workload_namespace",
                "inferenceset",
            )[qwen]
            for query in found
        ]
        assert shown == expected


def test_findings_are_counted_by_owner(prometheus: Prometheus) -> None:
    found = _values(prometheus.range(query_of("Findings by owner").sent()), "owner")
    assert sum(by_minute.get(10, 0) for by_minute in found.values()) == 4
    assert all(20 not in by_minute for by_minute in found.values())


def test_the_timelines_show_each_state(prometheus: Prometheus) -> None:
    shown = prometheus.range(query_of("States of control plane and workload namespaces").sent())
    found = _values(shown, "workload_namespace", "reason")
    istio = found["", "clusterIstioControlPlaneNotReady"]
    gateway = found["team-m", "modelharnessGatewayProgrammingFailed"]
    announced, suppressed, silenced, clear = 7, 5, 4, 0
    assert (istio[1], istio[10], istio[20]) == (clear, announced, clear)
    assert (gateway[10], gateway[20]) == (suppressed, clear)
    assert (found["team-a", SILENCED][10], found["team-a", SILENCED][20]) == (silenced, clear)
    assert len(found) < 6, "only what was not clear"
    timeline = query_of("States of InferenceSets and other subjects").sent()
    sets = _values(prometheus.range(timeline), "inferenceset", "reason")
    assert sets["qwen", "inferencesetModelPodsNotReady"][10] == announced


def test_what_is_suppressed_is_under_its_cause(prometheus: Prometheus) -> None:
    query = query_of("Suppressed, by cause").sent()
    found = _rows(prometheus.instant(query, _minute(10)), "cause", "reason", "workload_namespace")
    cause = "clusterIstioControlPlaneNotReady"
    assert found == {(cause, "modelharnessGatewayProgrammingFailed", "team-m"): 1}


def test_what_is_silenced_is_apart_with_its_end_and_who_wrote_it(prometheus: Prometheus) -> None:
    query = query_of("Silenced, and since when").sent()
    found = _rows(prometheus.instant(query, _minute(10)), "reason", "workload_namespace")
    assert found == {(SILENCED, "team-a"): _minute(BEGUN).timestamp() * 1000}
    (count,) = prometheus.instant(query_of("Silenced").sent(), _minute(10))
    assert float(count["value"][1]) == 1
    (count,) = prometheus.instant(query_of("Silenced").sent(), _minute(BEGUN - 1))
    assert float(count["value"][1]) == 0
    query = query_of("Silences, and until when").sent()
    ends = _minute(20).timestamp() * 1000
    for minute, state in ((10, "active"), (UNTIL, "expired")):
        found = _rows(prometheus.instant(query, _minute(minute)), "by", "reasons", "state")
        assert found == {("bob", SILENCED, state): ends}


def test_each_variable_offers_the_values_of_the_replay(prometheus: Prometheus) -> None:
    offered = {
        each["name"]: _values_of(prometheus, each)
        for each in DASHBOARD["templating"]["list"]
        if each["type"] == "query"
    }
    assert offered["cluster"] == ["west"]
    assert offered["owner"] == ["infrastructure", "platform", "user"]
    assert {"team-a", "team-m"} <= set(offered["namespace"])
    assert offered.keys() == {"cluster", "namespace", "owner"}
