"""A real Prometheus scrapes a real reporter, in both formats, and evaluates the chart's rules."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from e2e.chart.alerts.promtool import each_rule
from e2e.controlplane import ControlPlane, WaitTimeout, until
from e2e.support.metrics_process import Prometheus
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import SHORT_FLAGS


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
OPENMETRICS, TEXT = "OpenMetricsText1.0.0", "PrometheusText0.0.4"
SLOW = 60
"""
Seconds within which all of this is seen on a busy machine, where single scrapes take longer than their second.
"""


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 1) as plane:
        yield plane


@pytest.fixture
def reporter(plane: ControlPlane) -> Iterator[ReporterProcess]:
    flags = (*SHORT_FLAGS, NO_PAGES, "--rollup-metrics=namespace")
    with ReporterProcess(plane, *flags) as reporter:
        yield reporter


def _engine(
    plane: ControlPlane, reporter: ReporterProcess, rules: Json | None = None
) -> Prometheus:
    """Start a Prometheus with a target for each format."""
    target = {
        "targets": [f"127.0.0.1:{reporter.metrics_port}"],
        "labels": {"namespace": NAMESPACE},
    }
    config: Json = {
        "global": {
            "scrape_interval": "1s",
            "evaluation_interval": "1s",
            "external_labels": {"cluster": "west"},
        },
        "scrape_configs": [
            {"job_name": each, "scrape_protocols": [each], "static_configs": [target]}
            for each in (OPENMETRICS, TEXT)
        ],
    }
    engine = Prometheus(plane, "rules", config, "--storage.tsdb.path={folder}/data")
    if rules is not None:
        (engine.folder / "rules.json").write_text(json.dumps(rules))
        engine.write_config({**config, "rule_files": ["rules.json"]})
    engine.start()
    return engine


def _get(engine: Prometheus, path: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=SLOW)
    try:
        connection.request("GET", f"/api/v1/{path}")
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    assert answer["status"] == "success", answer
    return answer["data"]


def _scraped(engine: Prometheus) -> dict[str, float]:
    found = _get(engine, "query?query=scrape_samples_scraped")["result"]
    return {each["metric"]["job"]: float(each["value"][1]) for each in found}


def _health(engine: Prometheus) -> dict[str, str]:
    """Return the health of each target, with its last error if there is one."""
    targets = _get(engine, "targets")["activeTargets"]
    return {each["scrapePool"]: each["health"] + each["lastError"] for each in targets}


def test_prometheus_reads_both_formats(plane: ControlPlane, reporter: ReporterProcess) -> None:
    accept = {"Accept": "application/openmetrics-text;version=1.0.0"}
    page = Request(f"http://127.0.0.1:{reporter.metrics_port}/metrics", headers=accept)
    with urlopen(page, timeout=SLOW) as response:
        assert response.headers["Content-Type"].startswith("application/openmetrics-text")
        families = text_string_to_metric_families(response.read().decode())
        samples = sum(len(family.samples) for family in families)
    assert samples > 400
    engine = _engine(plane, reporter)
    try:
        until(
            lambda: min(_scraped(engine).values(), default=0) >= samples,
            within=SLOW,
            what="a scrape in each format",
        )
        both_up = dict.fromkeys((OPENMETRICS, TEXT), "up")
        try:
            until(lambda: _health(engine) == both_up, within=SLOW, what="both are scraped")
        except WaitTimeout as err:
            raise AssertionError(f"{err}\n{_health(engine)}") from None
    finally:
        engine.stop()


def _evaluated(engine: Prometheus) -> list[Json]:
    groups = _get(engine, "rules")["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _pending(engine: Prometheus) -> list[Json]:
    found: list[Json] = _get(engine, "alerts")["alerts"]
    wanted = {"alertname": "ProductionStackFinding", "reason": INVALID_REASON}.items()
    return [each for each in found if wanted <= each["labels"].items()]


def test_prometheus_evaluates_every_rule(
    plane: ControlPlane, reporter: ReporterProcess, rules: Json
) -> None:
    """Two targets show the same replica, as a ServiceMonitor and a PodMonitor together do."""
    inference_sets.misconfigure(plane.client, 0)
    inference_sets.wait_state(reporter, 0, "announced", within=SLOW)
    engine = _engine(plane, reporter, rules)
    try:
        until(
            lambda: [n > 0 for n in _scraped(engine).values()] == [True, True],
            within=SLOW,
            what="both targets are scraped",
        )
        until(
            lambda: all(each["health"] != "unknown" for each in _evaluated(engine)),
            within=SLOW,
            what="every rule is evaluated",
        )
        found = _evaluated(engine)
        assert len(found) == len([*each_rule(rules)]) > 15
        assert [
            (each["name"], each.get("lastError")) for each in found if each["health"] != "ok"
        ] == []
        (alert,) = until(
            lambda: _pending(engine), within=SLOW, what=f"an alert on {INVALID_REASON}"
        )
        labels = {"namespace": "team-0", "workload_namespace": "team-0", "inferenceset": "model-0"}
        of_reason = {"owner": "user", "layer": "modeldeployment", "reason": INVALID_REASON}
        name = {"alertname": "ProductionStackFinding", "severity": "warning"}
        assert alert["labels"] == {**name, **of_reason, **labels}
    finally:
        engine.stop()
        inference_sets.repair(plane.client, 0)
