"""Pages that cannot be read, over real sockets: the class of each failure, and how many count."""

from reporter.model.enums import Reason
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.scrapes import Scrape
from reporter.settings import ScrapeMode
from reporter.snapshot.scrape_targets import READY
from tests.integration.scrape.scraper_fixture import scraping
from tests.support.loading_pods import a_loading_pod
from tests.support.stubs.api_servers import until
from tests.support.stubs.exporter import StubExporter


PAGES = Reason("inferencesetMetricsUnavailable")
READ = a_loading_pod("read-0", ip="127.0.7.1", ready=True)
REFUSED = a_loading_pod("refused-0", ip="127.0.7.2", ready=True)


def an_exporter(*readable: str) -> StubExporter:
    return StubExporter(dict.fromkeys(readable, lambda _: b"# TYPE up gauge\nup 1\n"))


def scrapes_of(stub: StubExporter):
    return {PAGES: Scrape(families=(), pods=READY, port=stub.port)}


def failure_of(run, pod):
    history = run.store.snapshot().scrape_history(pod, PAGES)
    return history.last_failure if history is not None else None


async def test_a_page_that_fails_alone_is_counted_and_one_that_is_read_is_not(tmp_path):
    async with an_exporter("127.0.7.1") as stub:
        scrapes = scrapes_of(stub)
        async with scraping(tmp_path, READ, REFUSED, scrapes=scrapes, evaluating=False) as (
            run,
            _,
        ):
            await until(lambda: (f := failure_of(run, REFUSED)) is not None and f.failures >= 3)
            failure = failure_of(run, REFUSED)
            assert failure.result is ScrapeResult.REFUSED
            assert failure.others_read
            assert failure_of(run, READ) is None


async def test_pages_that_all_fail_count_as_one_failure_each(tmp_path):
    async with an_exporter("127.0.7.9") as stub:
        scrapes = scrapes_of(stub)
        async with scraping(tmp_path, READ, REFUSED, scrapes=scrapes, evaluating=False) as (
            run,
            _,
        ):
            await until(lambda: run.results["refused"] >= 8)
            for pod in (READ, REFUSED):
                failure = failure_of(run, pod)
                assert (failure.failures, failure.others_read) == (1, False)


async def test_a_missing_permission_is_a_limit_of_the_reader(tmp_path):
    async with an_exporter("127.0.7.1") as stub:
        scrapes = scrapes_of(stub)
        async with scraping(
            tmp_path, READ, scrapes=scrapes, evaluating=False, mode=ScrapeMode.PROXY
        ) as (run, server):
            server.deny("get", "", "pods/proxy")
            await until(lambda: run.results["forbidden"] > 0)
            assert failure_of(run, READ).result is ScrapeResult.FORBIDDEN
