"""
How the pages of pods are read, by what the flags and the catalogue say.
"""

from collections.abc import Mapping
from functools import partial

from reporter.kube.scraper import Scraping
from reporter.model.entries import Catalogue, ProbeSpec
from reporter.model.samples import Window
from reporter.model.words import Reason
from reporter.settings import ScrapeMode, Settings
from reporter.stages.scrapes import Scrapes
from reporter.stages.windows import MEGABYTE, REMAINING, Pace, Rules, judge


def reasons(catalogue: Catalogue, specs: Mapping[str, ProbeSpec]) -> tuple[Reason, ...]:
    """
    The judged reasons that read such pages; without any, nothing is scraped.
    """
    judged = (entry for entry in catalogue.entries.values() if entry.judged)
    return tuple(entry.reason for entry in judged if specs[entry.probe].scrapes)


def how(settings: Settings, *, inside: bool) -> Scraping:
    """
    *inside*: whether this process runs in the cluster; from outside, pods have no address.
    """
    chosen = settings.scrape_mode
    return Scraping(
        metrics=(settings.weight_download_metric, REMAINING),
        port=settings.weight_download_metric_port,
        interval=settings.scrape_interval,
        mode=ScrapeMode.PROXY if chosen is ScrapeMode.AUTO and not inside else chosen,
    )


def windows(settings: Settings) -> Scrapes:
    """
    What keeps the samples: a scrape after which a download is judged the same wakes nobody.
    """
    rules = Rules(
        speed=settings.weight_download_metric,
        span=settings.weight_download_window,
        interval=settings.scrape_interval,
        slow_below=settings.weight_download_min_mbps * MEGABYTE,
    )
    return Scrapes(rules.span, partial(_gist, rules))


def _gist(rules: Rules, window: Window) -> tuple[str, Pace]:
    return (window.unread.why if window.unread is not None else "", judge(window, rules).pace)
