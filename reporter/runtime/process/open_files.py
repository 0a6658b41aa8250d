"""
Raise the limit of open files, and plan how many of them scraping may take.

Without a free file the kernel accepts no connection, and the kubelet's probes fail.
"""

import logging
import resource

from reporter.kube.client.connections import MAX_CONNECTIONS as API_CONNECTIONS
from reporter.kube.scrape.limits import MAX_OPEN_PAGES
from reporter.runtime.http.limits import BACKLOG
from reporter.runtime.http.limits import MAX_CONNECTIONS as HTTP_CONNECTIONS


WANTED_FILES = 4096
"""
Files are never taken without bounds; to raise the limit beyond helps nobody, and old programs that
an exec plugin starts cannot work with very high numbers (select(2)).
"""

LISTENING_ADDRESSES = 3
OTHER_FILES = 64
"""
Files beside connections: standard streams, the event loop, libraries, certificates while they are
read, an exec plugin.
"""

MIN_PAGES = 16

logger = logging.getLogger(__name__)


def raise_limit() -> int:
    """
    Raise the soft limit of open files towards the hard one, and return it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def max_open_pages(files: int) -> int:
    """
    Return how many metrics pages of pods may be read at once with so many *files*.
    """
    http = LISTENING_ADDRESSES * (HTTP_CONNECTIONS + BACKLOG)
    left = files - API_CONNECTIONS - http - OTHER_FILES
    return max(min(left, MAX_OPEN_PAGES), MIN_PAGES)
