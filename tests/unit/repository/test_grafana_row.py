"""The example row of a Grafana dashboard asks for series that there are."""

import json
import re
from pathlib import Path

from reporter.metrics.declarations import METRICS, PREFIX, MetricDeclaration, MetricType


EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "grafana-episodes.json"
PANELS = json.loads(EXAMPLE.read_text("utf-8"))["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel.get("targets", ())]


def test_every_query_of_the_row_names_declared_metrics_and_their_labels():
    by_name: dict[str, MetricDeclaration] = {}
    for each in METRICS:
        suffixes = ("_sum", "_count") if each.type is MetricType.HISTOGRAM else ("",)
        by_name |= {each.full_name + suffix: each for suffix in suffixes}
    assert len(QUERIES) == 4
    for query in QUERIES:
        names = re.findall(rf"{PREFIX}\w+", query)
        assert names
        assert set(names) <= by_name.keys()
        labels = {label for name in names for label in by_name[name].labels}
        assert set(re.findall(r"by \((\w+)\)", query)) <= labels


def test_the_panels_fill_the_row():
    assert PANELS[0]["type"] == "row"
    assert sum(panel["gridPos"]["w"] for panel in PANELS[1:]) == 24
