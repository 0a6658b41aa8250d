"""Make the configuration of the scraper from the flags."""

from collections.abc import Mapping

from reporter.kube.connections import MAX_CONNECTIONS as API_CONNECTIONS
from reporter.process.main import open_files_limit
from reporter.scrape.scraper import ScrapeConfig
from reporter.scrape.scrapes import Scrape
from reporter.server.limits import MAX_OPEN_FILES as HTTP_FILES
from reporter.settings import ScrapeMode, Settings


OTHER_FILES = 64
"""
Open files beside connections: standard streams, the event loop, libraries, certificates while they
are read, an exec plugin.
"""


def make_scrape_config(
    settings: Settings, scrapes: Mapping[str, Scrape], *, inside: bool
) -> ScrapeConfig:
    """
    Return the configuration of the scraper: what is read, how often, by which path, with how many files.

    *inside*: whether this process runs in the cluster. From outside AUTO becomes PROXY, as the addresses
    of pods cannot be reached.
    """
    chosen = settings.scrape_mode
    return ScrapeConfig(
        scrapes,
        interval=settings.scrape_interval,
        mode=ScrapeMode.PROXY if chosen is ScrapeMode.AUTO and not inside else chosen,
        files=open_files_limit() - API_CONNECTIONS - HTTP_FILES - OTHER_FILES,
    )
