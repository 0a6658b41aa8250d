"""Scraping, as the flags and the catalogue configure it."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replace_parameters

from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.controller.coverage import find_unchecked
from reporter.controller.enabled_scrapes import find_scrapes, renew_scrapes, scraping_reasons
from reporter.controller.permissions import (
    POD_PROXY_PERMISSION,
    PermissionNeeds,
    permissions_for,
    required_permissions,
)
from reporter.controller.scrape_config import make_scrape_config
from reporter.evaluation.registry import SPECS
from reporter.kube.access_review import Permission
from reporter.model.enums import Reason
from reporter.probes.probe import ProbeParameters
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.scrapes import Scrape
from reporter.settings import ScrapeMode, Settings, load_settings
from reporter.snapshot.scrape_targets import READY
from reporter.store.samples import SampleStore
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.downloads import a_scrape_result
from tests.support.loading_pods import REASON, a_loading_pod
from tests.support.metrics_text import metrics_text, some_metrics


ENGINE = Reason("inferencesetEngineStalled")
AUTO, DIRECT, PROXY = ScrapeMode.AUTO, ScrapeMode.DIRECT, ScrapeMode.PROXY


def settings(*flags: str) -> Settings:
    return load_settings(flags, {}, hostname="laptop", namespace_file=Path("/nowhere"))


def scrapes_for(*flags: str):
    return find_scrapes(DEFAULT_CATALOGUE, SPECS, settings(*flags).flag_texts)


def scraping_only(*reasons: Reason) -> Catalogue:
    """Return the shipped catalogue without the reasons that read metrics pages, except these."""
    entries = {
        reason: replace(entry, enabled=reason in reasons)
        if entry.probe and SPECS[entry.probe].scrape is not None
        else entry
        for reason, entry in DEFAULT_CATALOGUE.entries.items()
    }
    return replace(DEFAULT_CATALOGUE, entries=entries)


def test_pages_are_read_only_while_a_reason_needs_them():
    assert REASON in scraping_reasons(DEFAULT_CATALOGUE, SPECS)
    assert scraping_reasons(scraping_only(REASON), SPECS) == (REASON,)
    assert scraping_reasons(scraping_only(), SPECS) == ()
    assert find_scrapes(scraping_only(), SPECS, settings().flag_texts) == {}


def test_pages_are_not_read_for_a_check_that_a_flag_switches_off():
    engines = {"engines:5000"}
    assert scrapes_for("--weight-download-min-mbps=0").keys() == engines
    assert scrapes_for("--weight-download-metric=a-b").keys() == engines
    assert scrapes_for("--weight-download-metric=").keys() == {REASON, *engines}


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
    config = make_scrape_config(settings(f"--scrape-mode={flag}"), {}, inside=inside)
    assert config.mode is mode


def test_metric_port_and_interval_are_flags():
    flags = (
        "--weight-download-metric=rate",
        "--weight-download-metric-port=8000",
        "--scrape-interval-seconds=30",
    )
    scrapes = scrapes_for(*flags)
    scrape = scrapes[REASON]
    assert scrape.families == ("rate", "kaito_model_download_remaining_seconds")
    config = make_scrape_config(settings(*flags), scrapes, inside=True)
    assert (scrape.port, config.interval) == (8000, timedelta(seconds=30))


def test_what_is_slow_by_the_flags_is_what_wakes_the_judge():
    pod = a_loading_pod()
    store = SampleStore(scrapes_for("--weight-download-min-mbps=1"))
    assert [
        store.record_scrape(pod, REASON, a_scrape_result(at, 3), now=pod)
        for at in range(0, 75, 15)
    ] == [True, *[False] * 4]
    store = SampleStore(scrapes_for("--weight-download-window-seconds=30"))
    assert [
        store.record_scrape(pod, REASON, a_scrape_result(at, 3), now=pod) for at in (0, 15, 30, 45)
    ] == [True, False, True, False]


@pytest.mark.parametrize(("mode", "needed"), [(AUTO, True), (PROXY, True), (DIRECT, False)])
def test_the_proxys_right_is_needed_only_where_it_may_be_used(mode, needed):
    found = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(mode=mode))
    assert (POD_PROXY_PERMISSION in found) is needed
    assert POD_PROXY_PERMISSION not in required_permissions(
        scraping_only(), PermissionNeeds(mode=mode)
    )
    assert Permission("get", "", "pods/proxy") == POD_PROXY_PERMISSION


def test_scrapes_are_counted_by_result_and_every_result_is_there_from_the_start():
    metrics = some_metrics(DEFAULT_CATALOGUE)
    metrics.count_scrape(ScrapeResult.READ)
    page = metrics_text(metrics)
    series = [line for line in page.splitlines() if "_scrapes_total{" in line]
    name = "productionstack_status_reporter_scrapes_total"
    assert f'{name}{{result="read"}} 1.0' in series
    assert f'{name}{{result="barred"}} 0.0' in series
    assert len(series) == len(ScrapeResult)


READY_SCRAPE = Scrape(("up",), READY, 8000)


def spec_with(scrape: Scrape) -> ProbeSpec:
    return ProbeSpec("engine", ProbeParameters, scrape=lambda _, __: scrape)


@pytest.mark.parametrize(
    ("scope", "loading", "ready"),
    [
        ("all", "", ""),
        ("loading", "", "set --scrape to all"),
        ("off", "set --scrape to loading or all", "set --scrape to all"),
    ],
)
def test_what_the_scope_leaves_out_is_not_read_and_says_what_to_set(scope, loading, ready):
    flags = settings(f"--scrape={scope}").flag_texts
    specs = {**SPECS, "weight-download": spec_with(READY_SCRAPE)}
    assert (REASON in find_scrapes(DEFAULT_CATALOGUE, SPECS, flags)) is (not loading)
    assert find_unchecked(DEFAULT_CATALOGUE, SPECS, flags).get(REASON, "") == loading
    assert (REASON in find_scrapes(DEFAULT_CATALOGUE, specs, flags)) is (not ready)
    assert find_unchecked(DEFAULT_CATALOGUE, specs, flags).get(REASON, "") == ready


@pytest.mark.parametrize(
    ("flag", "needed"),
    [("--scrape=all", True), ("--scrape=off", False), ("--weight-download-min-mbps=0", False)],
)
def test_the_proxys_right_is_needed_only_while_a_page_is_read(flag, needed):
    found = permissions_for(settings(flag), scraping_only(REASON), mode=AUTO)
    assert (POD_PROXY_PERMISSION in found) is needed


def test_only_the_scrapes_that_change_are_new():
    flags = settings().flag_texts
    before = find_scrapes(DEFAULT_CATALOGUE, SPECS, flags)
    stays, catalogue = "engines:5000", scraping_only()
    entries = {**DEFAULT_CATALOGUE.entries, REASON: catalogue[REASON]}
    off = replace(DEFAULT_CATALOGUE, entries=entries)
    after = renew_scrapes(before, (DEFAULT_CATALOGUE, off), SPECS, flags)
    assert after.keys() == {stays}
    assert after[stays] is before[stays]
    parameters = replace_parameters(DEFAULT_CATALOGUE[ENGINE].parameters, window_seconds=77)
    entries = {**off.entries, ENGINE: replace(off[ENGINE], parameters=parameters)}
    changed = replace(off, entries=entries)
    assert renew_scrapes(after, (off, changed), SPECS, flags)[stays] is not before[stays]
