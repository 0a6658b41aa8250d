"""The dashboard of the fleet asks for series that there are."""

import re

from reporter.hub.metric_declarations import HUB_METRICS
from reporter.metrics.declarations import METRICS, PREFIX
from tests.support.fleet.dashboard import QUERIES


OF_THE_PIPELINE = {"cluster"}


def test_every_query_of_the_fleet_dashboard_names_declared_metrics_and_their_labels():
    by_name = {each.full_name: each for each in (*METRICS, *HUB_METRICS)}
    assert len(QUERIES) > 5
    for query in QUERIES:
        names = set(re.findall(rf"{PREFIX}\w+", query))
        assert names
        assert names <= by_name.keys()
        labels = {label for name in names for label in by_name[name].labels} | OF_THE_PIPELINE
        grouped = {
            label for each in re.findall(r"by \(([^)]+)\)", query) for label in each.split(", ")
        }
        assert grouped <= labels, query
        selected = set(re.findall(r"[{,](\w+)[=!]", query))
        assert selected <= labels, query
