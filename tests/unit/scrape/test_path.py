"""The path by which pods are read, and its changes after failures."""

import logging
from datetime import timedelta

import pytest

from reporter.kube.access_review import PermissionStatus
from reporter.scrape.exchange import FetchedPage
from reporter.scrape.path import PathSelector, ScrapePath
from reporter.scrape.samples import ScrapeError, ScrapeResult
from reporter.scrape.schedule import LastOutcome
from reporter.settings import ScrapeMode
from tests.support.loading_pods import a_loading_pod


PORT = 5000
POD, OTHER = a_loading_pod(), a_loading_pod(namespace="team-b")


class FakeFetcher:
    """Returns its name as the page, or fails with the result set for the namespace."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fails: dict[str, ScrapeResult] = {}

    async def fetch(self, pod, port: int, _: LastOutcome) -> FetchedPage:
        result = self.fails.get(pod.metadata.namespace)
        if result is not None:
            raise ScrapeError(result, "no")
        return FetchedPage(self.name.encode())


class PathSelectorFixture:
    def __init__(self, mode=ScrapeMode.AUTO, status=PermissionStatus.GRANTED, **how) -> None:
        self.direct, self.proxy = FakeFetcher("direct"), FakeFetcher("proxy")
        self.status: PermissionStatus = status
        self.reviewed: list[str] = []
        self.selector = PathSelector(
            mode, self.direct, self.proxy, review_access=self._allowed, **how
        )

    async def _allowed(self, namespace: str) -> PermissionStatus:
        self.reviewed.append(namespace)
        return self.status

    async def read(self, pod=POD, times: int = 1) -> str:
        """Fetch so many times, and return the page or the result of the last attempt."""
        last = ""
        for _ in range(times):
            try:
                with await self.selector.fetch(pod, PORT, LastOutcome.NEW, self.path(pod)) as body:
                    last = body.decode()
            except ScrapeError as err:
                last = err.result
        return last

    def path(self, pod=POD, port: int = PORT) -> ScrapePath:
        return self.selector.path_for(pod.metadata.namespace, port)

    def unreachable(self, pod=POD, result=ScrapeResult.UNREACHABLE) -> None:
        self.direct.fails[pod.metadata.namespace] = result


async def test_pods_are_read_at_their_addresses_as_long_as_that_works():
    pods = PathSelectorFixture()
    assert await pods.read(times=5) == "direct"
    assert pods.reviewed == []


async def test_after_three_failures_to_connect_the_proxy_is_used(caplog):
    caplog.set_level(logging.INFO)
    pods = PathSelectorFixture()
    pods.unreachable()
    assert await pods.read(times=3) == "unreachable"
    assert await pods.read() == "proxy"
    await pods.read(times=5)
    assert pods.reviewed == ["team-a"]
    assert [r.levelname for r in caplog.records] == ["INFO"]
    assert "namespace team-a" in caplog.text


async def test_each_namespace_has_a_path_of_its_own():
    pods = PathSelectorFixture()
    pods.unreachable()
    await pods.read(times=4)
    assert [await pods.read(), await pods.read(OTHER)] == ["proxy", "direct"]


async def test_a_success_in_between_resets_the_failures():
    pods = PathSelectorFixture()
    for _ in range(5):
        pods.unreachable()
        await pods.read(times=2)
        pods.direct.fails.clear()
        assert await pods.read() == "direct"
    assert pods.reviewed == []


@pytest.mark.parametrize(
    "result",
    [ScrapeResult.REFUSED, ScrapeResult.TIMED_OUT, ScrapeResult.FAILED, ScrapeResult.BARRED],
)
async def test_a_pod_that_has_no_page_is_no_reason_for_a_detour(result):
    pods = PathSelectorFixture()
    pods.unreachable(result=result)
    assert await pods.read(times=10) == result
    assert pods.reviewed == []


async def test_without_the_permission_pods_stay_unreachable_and_it_is_reviewed_and_logged_once(
    caplog,
):
    pods = PathSelectorFixture(status=PermissionStatus.MISSING)
    pods.unreachable()
    assert await pods.read(times=12) == "unreachable"
    assert pods.reviewed == ["team-a"]
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "grant get pods/proxy" in caplog.text


async def test_a_permission_that_is_granted_later_is_used():
    pods = PathSelectorFixture(status=PermissionStatus.MISSING, review_interval=timedelta(0))
    pods.unreachable()
    await pods.read(times=3)
    pods.status = PermissionStatus.GRANTED
    await pods.read(times=3)
    assert await pods.read() == "proxy"


async def test_a_review_that_failed_is_repeated(caplog):
    pods = PathSelectorFixture(status=PermissionStatus.UNKNOWN)
    pods.unreachable()
    await pods.read(times=6)
    assert pods.reviewed == ["team-a"] * 2
    assert caplog.records == []


async def test_a_revoked_permission_leads_back_to_the_direct_path():
    pods = PathSelectorFixture()
    pods.unreachable()
    await pods.read(times=3)
    pods.proxy.fails["team-a"] = ScrapeResult.FORBIDDEN
    assert await pods.read() == "forbidden"
    pods.direct.fails.clear()
    assert await pods.read() == "direct"


@pytest.mark.parametrize(
    ("mode", "expected"), [(ScrapeMode.DIRECT, "unreachable"), (ScrapeMode.PROXY, "proxy")]
)
async def test_a_mode_that_was_chosen_is_kept(mode, expected):
    pods = PathSelectorFixture(mode)
    pods.unreachable()
    assert await pods.read(times=10) == expected
    assert pods.reviewed == []


async def test_a_scrape_keeps_the_path_it_was_queued_for():
    pods = PathSelectorFixture()
    pods.unreachable()
    before = pods.path()
    await pods.read(times=3)
    assert (before, pods.path()) == (ScrapePath.DIRECT, ScrapePath.PROXY)
    for _ in range(2 * 3):
        with pytest.raises(ScrapeError) as caught:
            await pods.selector.fetch(POD, PORT, LastOutcome.NEW, before)
        assert caught.value.result is ScrapeResult.UNREACHABLE
    assert (pods.path(), pods.reviewed) == (ScrapePath.PROXY, ["team-a"])


async def test_each_port_of_a_namespace_has_a_path_of_its_own():
    pods = PathSelectorFixture()
    pods.unreachable()
    await pods.read(times=3)
    assert pods.path() is ScrapePath.PROXY
    assert pods.path(port=8000) is ScrapePath.DIRECT


NOW = timedelta(0)


async def proxied(**how) -> PathSelectorFixture:
    pods = PathSelectorFixture(**how)
    pods.unreachable()
    await pods.read(times=3)
    assert pods.path() is ScrapePath.PROXY
    return pods


async def test_the_direct_path_is_tried_again_and_taken_once_it_works(caplog):
    caplog.set_level(logging.INFO)
    pods = await proxied(try_interval=NOW)
    assert pods.selector.due_tries() == [("team-a", PORT)]
    assert not await pods.selector.try_direct(POD, PORT)
    assert await pods.read() == "proxy"
    pods.direct.fails.clear()
    assert await pods.selector.try_direct(POD, PORT)
    assert await pods.read() == "direct"
    assert "namespace team-a can be reached again" in caplog.text
    assert pods.selector.due_tries() == []


async def test_the_direct_path_is_not_tried_before_its_time_nor_where_a_flag_asks_for_the_proxy():
    assert (await proxied()).selector.due_tries() == []
    pods = PathSelectorFixture(mode=ScrapeMode.PROXY, try_interval=NOW)
    await pods.read(times=5)
    assert pods.selector.due_tries() == []
