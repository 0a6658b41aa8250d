"""
Configures scraping from the flags and the catalogue.
"""

from collections.abc import Mapping
from functools import partial

from reporter.kube.scrape.scraper import ScrapeConfig
from reporter.model.entries import Catalogue, ProbeSpec
from reporter.model.enums import Reason
from reporter.model.samples import ScrapeHistory
from reporter.settings import ScrapeMode, Settings
from reporter.stages.resources.downloads import (
    MEGABYTE,
    REMAINING_SECONDS_METRIC,
    DownloadRules,
    DownloadState,
    evaluate_download,
)
from reporter.stages.store.samples import SampleStore


def scraping_reasons(catalogue: Catalogue, specs: Mapping[str, ProbeSpec]) -> tuple[Reason, ...]:
    """
    Return the evaluated reasons that read metrics of pods; without any, nothing is scraped.
    """
    evaluated = (entry for entry in catalogue.entries.values() if entry.is_evaluated)
    return tuple(entry.reason for entry in evaluated if specs[entry.probe].reads_metrics)


def make_scrape_config(settings: Settings, *, inside: bool) -> ScrapeConfig:
    """
    Return the scraper's configuration; *inside* is whether this process runs in the cluster.

    From outside, the addresses of pods are not routed, so AUTO means PROXY.
    """
    chosen = settings.scrape_mode
    return ScrapeConfig(
        families=(settings.weight_download_metric, REMAINING_SECONDS_METRIC),
        port=settings.weight_download_metric_port,
        interval=settings.scrape_interval,
        mode=ScrapeMode.PROXY if chosen is ScrapeMode.AUTO and not inside else chosen,
    )


def make_sample_store(settings: Settings) -> SampleStore:
    """
    Return the store of samples; a scrape that does not change a download's state marks no subject.
    """
    rules = DownloadRules(
        speed_metric=settings.weight_download_metric,
        window=settings.weight_download_window,
        scrape_interval=settings.scrape_interval,
        slow_below=settings.weight_download_min_mbps * MEGABYTE,
    )
    return SampleStore(rules.window, partial(_gist, rules))


def _gist(rules: DownloadRules, window: ScrapeHistory) -> tuple[str, DownloadState]:
    return (
        window.last_failure.why if window.last_failure is not None else "",
        evaluate_download(window, rules).state,
    )
