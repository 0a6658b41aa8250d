"""
The history of a pod's scrapes.
"""

from datetime import timedelta
from math import nan

from reporter.model.metrics.samples import (
    ContainerRun,
    Sample,
    ScrapedMetrics,
    ScrapeHistory,
    add_scrape,
)
from tests.support.builders import NOON


def test_a_history_keeps_the_highest_value_of_each_name_and_no_labels():
    series = [Sample("speed", {"pid": str(n), "of": "x" * 100}, float(n)) for n in range(1000)]
    scrape = ScrapedMetrics(NOON, (Sample("speed", {}, nan), *series, Sample("left", {}, nan)))
    history = add_scrape(
        ScrapeHistory(ContainerRun("uid", 0)), scrape, retention=timedelta(minutes=1)
    )
    assert history.scrapes == (ScrapedMetrics(NOON, (Sample("speed", {}, 999.0),)),)
    assert history.scrapes[0].max_value("left") is scrape.max_value("left") is None
    assert history.first_positive == {"speed": NOON}
