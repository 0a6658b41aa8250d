"""
The reporter as it is, but that it also reads pods at loopback addresses, of which there are enough.

In a cluster these are barred: whoever may write a pod's status chooses where we connect to.
"""

from dataclasses import replace

from reporter.__main__ import main
from reporter.kube.scraper import Scraping
from reporter.runtime import scraping
from reporter.settings import Settings


_how = scraping.how


def _wherever(settings: Settings, *, inside: bool) -> Scraping:
    return replace(_how(settings, inside=inside), allowed=lambda _: True)


if __name__ == "__main__":
    scraping.how = _wherever
    main()
