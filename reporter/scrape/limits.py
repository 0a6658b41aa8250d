"""
All limits of scraping: times, sizes, and how much happens at once.

The interval is not here: it is the flag ``--scrape-interval-seconds`` and part of `ScrapeConfig`.
"""

from datetime import timedelta


SCRAPE_TIMEOUT = timedelta(seconds=5)
CONNECT_TIMEOUT = timedelta(seconds=1)
FIRST_READ_TIMEOUT = timedelta(seconds=2)
"""
Time that a pod may send nothing at its first scrape; at later ones it has all of SCRAPE_TIMEOUT.
"""

MAX_PAGE_BYTES = 4 * 1024 * 1024
MAX_CHUNKS = 8192
"""
Chunks of a page, and parts of chunks that packets bring. A page of 4 MiB that a Go server sends in its
smallest chunks, of 2 KiB, has 2,048, and comes in some 2,900 packets of 1,448 bytes that are read
one by one: 5,000 parts.
"""

RECEIVED_BYTES = 128 * 1024
"""Bytes of a response that are taken at once, before other tasks run."""

MAX_HEADERS, MAX_HEAD_BYTES = 128, 16 * 1024
"""
The headers of a response, with those of interim ones and trailers, and the bytes of all that brings no
body: heads, trailers, chunk extensions.
"""

MAX_RESPONSE_BYTES = MAX_PAGE_BYTES + 512 * 1024
"""The bytes of a response with all that frames its body."""

MAX_LINE_BYTES = 8192

MAX_SAMPLES = 1000
"""Samples of one requested family. A page with more is not one of the servers we know."""

MAX_SAMPLE_BYTES, LEAST_LINE_BYTES = 256 * 1024, 64
"""
The bytes of the lines that are parsed of a page, and those that each of them counts for at least: to
look at a line takes about a microsecond, and to parse it some 100 ns a byte.
"""

MAX_KNOWN_PAGES = 512
"""
The pages whose series are kept, by their text: those of a model are parsed once, and not each time. They
take 8 KiB each, or up to 55 if hostile pods choose them; of more models each page is parsed as if it were
the first, which takes another 100 µs.
"""

STEP_BYTES, STEP_SAMPLE_BYTES = 128 * 1024, 8 * 1024
"""
The bytes that are searched, and those of samples that are parsed, before other tasks run: about a
millisecond of work each.
"""

SMALL_PAGE_BYTES, MAX_LARGE_PAGES = 160 * 1024, 4
"""
The size up to which a page is small, as those of vLLM are, and how many larger ones are in memory at
the same time: so many of pods that were read before, and so many of others. Hundreds of requests are
open at the same time, but their bodies take at most 2 * 4 * 4 MiB, beside the 0.3 MiB of each other.
"""

MAX_PROXIED_PAGE_BYTES = 1024 * 1024
"""
The size up to which a page is read through the API server's proxy, where the client holds the body
as a whole: 8 at a time.
"""

FREE_STEPS, MAX_PARSE_TIME = 8, timedelta(seconds=1)
"""
The steps after which the parsing of a page waits for that of others, and the time on the event loop
that it may take in all. A page of vLLM has one step, of some 100 µs. The counts above bound each page
to some 50 ms; the time is the limit on a slow machine.
"""

PARSE_SHARE = 0.2
"""
The share of time in which pages are parsed that have more than FREE_STEPS, all of them together.
"""

MAX_SKIPPED_INTERVALS = 31
"""
Intervals that are left out at most before a page is read again that costs too much: 1, 3, 7, ...
With the default interval of 15 s it is read every 8 minutes.
"""

SKIPPED_INTERVALS = (0, 0, 1, 3)
"""Intervals that are left out after 0, 1, 2, and 3 or more failures in a row."""

TARGET_REFRESH_INTERVAL = timedelta(seconds=5)
"""Least time between two determinations of the pages to read."""

FAILURES_BEFORE_PROXY = 3
"""
Failures to connect in a row, to one port in one namespace, before the API server's proxy is tried.
"""

REVIEW_INTERVAL = timedelta(minutes=10)
"""
Least time between two reviews of the permission to use the proxy, for a namespace that lacks it.
Thousands of Ready pods that cannot be reached fail several times a second.
"""

PROXIED_PAGES_PER_MINUTE = 60
"""
Pages that are read through the API server at most: a thousand models of two pods every 15 s were 8,000
requests a minute, more than all others of this program together. With fewer pages than the interval
has seconds each is read once an interval.
"""

DIRECT_TRY_INTERVAL = timedelta(minutes=10)
"""Time between two tries to reach the pods of a namespace that are read through the API server."""

MAX_DIRECT_TRIES = 16
"""Namespaces that are tried at the same time: of a thousand all are within six minutes."""

MOMENTS_APART = timedelta(seconds=0.5)
"""
Time between two moments at which pages are read. Of 130 pages a second, one that is read alone costs half
as much again as one of 33 that are read together, and these a twelfth more than one of 67.
"""

STARTS_BETWEEN_YIELDS = 16
"""Scrapes that are started before other tasks run."""

MAX_OPEN_PAGES = 512
MAX_CONCURRENT_DIRECT = (MAX_OPEN_PAGES, (256, 384))
MAX_CONCURRENT_PROXY = 8
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

512 open files together with those to the API server (at most 128) and those of the HTTP server (at
most 288) stay below the usual limit of 1,024; with a lower limit there are fewer.
Through the proxy one page a second is begun, and each has 5 s: eight are never open at the same time
but for slow headers. Watches and the lease share these connections.
"""

MIN_OPEN_PAGES = 16
"""Pages that are read at once however few files may be open."""


def direct_concurrency(files: int) -> tuple[int, tuple[int, int]]:
    """
    Return how many pages may be open at once: in all, and of each of the two groups.

    That is MAX_CONCURRENT_DIRECT, or less of it in the same proportion if only so many *files* may be open.
    """
    total, groups = MAX_CONCURRENT_DIRECT
    pages = min(max(files, MIN_OPEN_PAGES), total)
    first, second = (max(pages * group // total, 1) for group in groups)
    return pages, (first, second)
