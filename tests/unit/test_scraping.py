"""
What the flags and the catalogue make of scraping.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reporter.kube.access import Right
from reporter.model.entries import Catalogue
from reporter.model.samples import ScrapeResult
from reporter.runtime.rights import PROXYING, rights
from reporter.runtime.scraping import how, reasons, windows
from reporter.settings import ScrapeMode, Settings, load
from reporter.sinks.metrics import Metrics
from reporter.stages.probes.specs import SPECS
from tests.loading import a_loading_pod
from tests.shipped import CATALOGUE
from tests.windows import a_scrape


REASON = "inferencesetWeightDownloadSlow"
AUTO, DIRECT, PROXY = ScrapeMode.AUTO, ScrapeMode.DIRECT, ScrapeMode.PROXY


def settings(*flags: str) -> Settings:
    return load(flags, {}, hostname="laptop", namespace_file=Path("/nowhere"))


def without_it() -> Catalogue:
    entries = {
        reason: replace(entry, enabled=reason != REASON)
        for reason, entry in CATALOGUE.entries.items()
    }
    return replace(CATALOGUE, entries=entries)


def test_pages_are_read_only_while_a_reason_needs_them():
    assert reasons(CATALOGUE, SPECS) == (REASON,)
    assert reasons(without_it(), SPECS) == ()


@pytest.mark.parametrize(
    ("flag", "inside", "mode"),
    [
        ("auto", True, AUTO),
        ("auto", False, PROXY),
        ("direct", True, DIRECT),
        ("direct", False, DIRECT),
        ("proxy", True, PROXY),
        ("proxy", False, PROXY),
    ],
)
def test_from_outside_auto_is_through_the_api_server(flag, inside, mode):
    assert how(settings(f"--scrape-mode={flag}"), inside=inside).mode is mode


def test_metric_port_and_interval_are_flags():
    flags = (
        "--weight-download-metric=rate",
        "--weight-download-metric-port=8000",
        "--scrape-interval-seconds=30",
    )
    plan = how(settings(*flags), inside=True)
    assert plan.metrics == ("rate", "kaito_model_download_remaining_seconds")
    assert (plan.port, plan.interval) == (8000, timedelta(seconds=30))


def test_what_is_slow_by_the_flags_is_what_wakes_the_judge():
    pod = a_loading_pod()
    kept = windows(settings("--weight-download-min-mbps=1"))
    assert [kept.sampled(pod, a_scrape(at, 3)) for at in range(0, 75, 15)] == [True, *[False] * 4]
    kept = windows(settings("--weight-download-window-seconds=30"))
    assert [kept.sampled(pod, a_scrape(at, 3)) for at in (0, 15, 30, 45)] == [
        *(True, False, True, False)
    ]


@pytest.mark.parametrize(("mode", "needed"), [(AUTO, True), (PROXY, True), (DIRECT, False)])
def test_the_proxys_right_is_needed_only_where_it_may_be_used(mode, needed):
    found = rights(CATALOGUE, SPECS, lease=None, mode=mode)
    assert (PROXYING in found) is needed
    assert PROXYING not in rights(without_it(), SPECS, lease=None, mode=mode)
    assert Right("get", "", "pods/proxy") == PROXYING


def test_scrapes_are_counted_by_result_and_every_result_is_there_from_the_start():
    metrics = Metrics(CATALOGUE, list)
    metrics.scraped(ScrapeResult.READ)
    page = metrics.page().decode()
    series = [line for line in page.splitlines() if "_scrapes_total{" in line]
    name = "productionstack_status_reporter_scrapes_total"
    assert f'{name}{{result="read"}} 1.0' in series
    assert f'{name}{{result="barred"}} 0.0' in series
    assert len(series) == len(ScrapeResult)
