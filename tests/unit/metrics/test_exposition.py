"""The formats of the metrics page."""

import pytest
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families

from reporter.hub.metrics import HubMetrics
from reporter.metrics.input_collectors import InputReport
from reporter.metrics.page import Metrics
from reporter.process.clock import Clock
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import some_metrics
from tests.support.rollups import model_outage, show_rollup


PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
"""The Accept header of Prometheus 3 (config/config.go, DefaultScrapeProtocols)."""

PLAIN = "text/plain; version=0.0.4; charset=utf-8"


def a_page() -> Metrics:
    metrics, outage = some_metrics(DEFAULT_CATALOGUE, leads=True), model_outage()
    show_rollup(metrics, outage.rollup)
    metrics.follow(finished_pass(outage.evaluation))
    metrics.count_api_request("list", 200)
    return metrics


def test_prometheus_gets_openmetrics_with_every_sample():
    metrics = a_page()
    content_type, encode = metrics.expose(PROMETHEUS)
    assert content_type.startswith("application/openmetrics-text; version=1.0.0; charset=utf-8")
    body = encode().decode()
    assert body.endswith("# EOF\n")
    plain = metrics.expose("")[1]().decode()

    def series(families) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
        return {
            (sample.name, tuple(sorted(sample.labels.items())))
            for family in families
            for sample in family.samples
        }

    found = series(openmetrics_families(body))
    assert len(found) > 300
    assert found == series(text_string_to_metric_families(plain))


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/html", "text/plain;version=0.0.4", "application/json;q=0.9"]
)
def test_others_get_plain_text(accept):
    content_type, encode = a_page().expose(accept)
    assert content_type == PLAIN
    assert b"# EOF" not in encode()


@pytest.mark.parametrize(
    "accept",
    [
        "application/openmetrics-text;version=x.y",
        "application/openmetrics-text;version=",
        "application/openmetrics-text;escaping=none;version=1.0.0",
        ";;,,==",
        "text/plain;version=1.x",
        '\\"',
    ],
)
def test_a_strange_header_is_answered_with_a_page(accept):
    content_type, encode = a_page().expose(accept)
    assert b"productionstack_status_reporter_build_info" in encode()
    assert content_type.startswith(("text/plain", "application/openmetrics-text"))


def test_the_page_is_that_of_the_moment_although_it_is_formatted_later():
    metrics = a_page()
    before = metrics.expose("")
    metrics.count_api_request("list", 200)
    counted = b'productionstack_status_reporter_api_requests_total{code="200",verb="list"} '
    assert counted + b"1.0" in before.encode()
    assert counted + b"2.0" in metrics.expose("").encode()


def test_the_hub_has_the_same_formats():
    content_type, encode = HubMetrics(InputReport, Clock()).expose(PROMETHEUS)
    assert content_type.startswith("application/openmetrics-text")
    assert encode().endswith(b"# EOF\n")
