"""
All limits of scraping: times, sizes, and how much happens at once.

The interval is not here: it is the flag ``--scrape-interval-seconds`` and part of `ScrapeConfig`.
"""

from datetime import timedelta


SCRAPE_TIMEOUT = timedelta(seconds=5)
CONNECT_TIMEOUT = timedelta(seconds=1)
FIRST_READ_TIMEOUT = timedelta(seconds=2)
"""
How long a pod may send nothing at its first scrape; at later ones it has all of SCRAPE_TIMEOUT.
"""

MAX_PAGE_BYTES = 4 * 1024 * 1024
MAX_LINE_BYTES = 8192

MAX_SAMPLES = 1000
"""
Samples of one requested family. A page with more is not one of the servers we know.
"""

SMALL_PAGE_BYTES, MAX_LARGE_PAGES = 64 * 1024, 8
"""
The size up to which a page is small, and how many larger ones are read at the same time: so many of
pods that were read before, and so many of others. Hundreds of requests are open at the same time,
but their bodies take at most 2 * 8 * 4 MiB, beside the 0.4 MiB that a connection buffers of each.
"""

SKIPPED_INTERVALS = (0, 0, 1, 3)
"""
Intervals that are left out after 0, 1, 2, and 3 or more failures in a row.
"""

TARGET_REFRESH_INTERVAL = timedelta(seconds=5)
"""
How often, at most, the pages to read are determined anew.
"""

FAILURES_BEFORE_PROXY = 3
"""
Failures to connect in a row, to one port in one namespace, before the API server's proxy is tried.
"""

STARTS_BETWEEN_YIELDS = 16
"""
Scrapes that are started before other tasks run.
"""

MAX_CONCURRENT_DIRECT = (512, (256, 384))
MAX_CONCURRENT_PROXY = (64, (56, 48))
"""
Open requests: in all, and at most for pods whose last scrape succeeded and for the other ones. So
512 - 384 = 128 are reserved for the former, which answer in milliseconds.

A pod that accepts and sends nothing holds a slot for 2 s at its first scrape and for 5 s at later
ones, which come after 1, 2 and then 4 intervals each. Of 10,000 new pods of which half hang, all have
had a first scrape after 5,000 * 2 s / 384 = 26 s beside the interval over which they are spread; those
that answered are read every interval from then on. To try the 5,000 every 60 s takes
5,000 * 5 s / 60 s = 417 slots: it is every 65 s, and every 130 s with 10,000 that hang. New pods do not
wait for these: a slot is released every 5 s / 384 = 13 ms. If 5,000 that were read begin to hang at
once, the others wait for 5,000 * 5 s / 256 = 98 s, once; with more slots for these so many pages would
arrive at once that the event loop is held for more than 50 ms.

512 open files together with those to the API server (at most 128) stay below the usual limit of 1,024.
Through the proxy there are fewer, since watches and the lease share these connections: 5,000 pods that
hang behind it have had their first scrape after 5,000 * 5 s / 48 = 9 min.
"""
