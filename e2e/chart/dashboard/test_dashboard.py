"""
The dashboard has the form that Grafana's schema gives, asks for metrics that there are, and is rendered on demand.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from e2e.chart import CHART
from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.timeline import selector
from e2e.chart.dashboard.panels import DASHBOARD, FILE, panels, queries, query_of
from e2e.chart.helm import Helm
from reporter.metrics.declarations import METRICS, PREFIX, MetricDeclaration, MetricType
from reporter.metrics.index import ACTIVE, CLEAR, STATE_NAMES


Json = dict[str, Any]
GRID = 24
BY_NAME: dict[str, MetricDeclaration] = {
    each.full_name + suffix: each
    for each in METRICS
    for suffix in (("_bucket",) if each.type is MetricType.HISTOGRAM else ("",))
}
OF_TARGETS = {"cluster", "instance", "namespace", "pod", "le"}


def _differences(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Return what Grafana's types do not know: it is lost on the way through them."""
    if isinstance(ours, dict):
        if not isinstance(theirs, dict):
            return [where]
        return [
            each
            for key, value in ours.items()
            for each in (
                _differences(value, theirs[key], f"{where}.{key}")
                if key in theirs
                else [f"{where}.{key}"]
            )
        ]
    if isinstance(ours, list):
        if not isinstance(theirs, list) or len(ours) != len(theirs):
            return [where]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [each for i, (a, b) in pairs for each in _differences(a, b, f"{where}[{i}]")]
    return [] if ours == theirs else [where]


def _through_the_schema(dashboard: Json) -> Json:
    register_default_plugins()
    encoded = JSONEncoder(sort_keys=True).encode(Dashboard.from_json(dashboard))
    found: Json = json.loads(encoded)
    return found


def test_grafana_knows_every_field() -> None:
    assert _differences(DASHBOARD, _through_the_schema(DASHBOARD)) == []


def test_a_field_that_grafana_does_not_know_is_noticed() -> None:
    wrong = json.loads(FILE.read_text("utf-8"))
    wrong["panels"][1]["gridPosition"] = {}
    wrong["panels"][1]["options"]["colourMode"] = "background"
    lost = _differences(wrong, _through_the_schema(wrong))
    assert lost == [".panels[1].options.colourMode", ".panels[1].gridPosition"]


def test_every_query_names_declared_metrics_and_labels() -> None:
    assert len(queries()) > 15
    for query in queries():
        names = set(re.findall(rf"{PREFIX}\w+", query.text))
        assert names, query.panel
        assert names <= BY_NAME.keys(), query.panel
        known = {label for name in names for label in BY_NAME[name].labels} | OF_TARGETS
        for listed in re.findall(r"(?:by|on) \(([^)]+)\)", query.text):
            assert set(listed.split(", ")) <= known, query.panel


def test_panels_fill_rows_without_overlap_and_say_what_they_show() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= GRID
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["description"].endswith(".")
    for key in ("id", "title"):
        given = [panel[key] for panel in panels()]
        assert all(given)
        assert len(given) == len(set(given))


def test_every_state_of_a_reason_is_drawn() -> None:
    """Look for a number of each state: one without a number would look clear."""
    timelines = [panel for panel in panels() if panel["type"] == "state-timeline"]
    assert len(timelines) == 2
    for panel in timelines:
        (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
        drawn = {text["text"]: number for number, text in mapping["options"].items()}
        (target,) = panel["targets"]
        asked = dict(re.findall(r'\* (\d), "state", "(\w+)"', target["expr"]))
        assert {state: number for number, state in asked.items()} | {CLEAR: "0"} == drawn
        assert drawn.keys() == {*STATE_NAMES, CLEAR} - {ACTIVE}


def test_the_same_namespace_of_two_clusters_has_two_names() -> None:
    for panel in panels():
        for target in panel.get("targets", ()):
            if "workload_namespace}}" in target.get("legendFormat", ""):
                assert target["legendFormat"].startswith("{{cluster}} "), panel["title"]


@pytest.mark.controlplane
@pytest.mark.parametrize("leaders", [0, 1, 2])
def test_a_leader_that_is_scraped_twice_is_one(tmp_path: Path, leaders: int) -> None:
    """Two leaders are a fault that the panel shows; each is a series of both monitors here."""
    name = f"{PREFIX}leader"
    series = [
        {
            "series": selector(
                name, {"cluster": cluster, "namespace": "s", "pod": f"reporter-{i}", "job": job}
            ),
            "values": f"{int(i < leaders)}+0x9",
        }
        for cluster in ("east", "west")
        for i in range(3)
        for job in ("service", "pod")
    ]
    shown = f"{query_of('Replicas that lead').sent()} == {leaders}"
    rule = {"alert": "Shown", "expr": shown}
    rules = {"groups": [{"name": "panel", "rules": [rule]}]}
    assert firing_errors(rules, series, {5: [{"alertname": "Shown"}]}, tmp_path) == ""


@pytest.mark.controlplane
def test_it_is_a_config_map_that_the_sidecar_finds(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=dashboard.enabled=true")
    (found,) = (
        each for each in objects if each["metadata"]["labels"].get("grafana_dashboard") == "1"
    )
    assert found["kind"] == "ConfigMap"
    assert [json.loads(text) for text in found["data"].values()] == [DASHBOARD]


@pytest.mark.controlplane
def test_it_is_not_rendered_by_default(helm: Helm) -> None:
    assert "dashboard" not in json.dumps(helm.render(CHART))
