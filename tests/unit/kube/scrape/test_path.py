"""
By which way pods are read, as it turns out which of them leads there.
"""

import logging

import pytest

from reporter.kube.objects.access_review import PermissionStatus
from reporter.kube.scrape.fetcher import ScrapeError
from reporter.kube.scrape.path import PathSelector, ScrapePath
from reporter.kube.scrape.schedule import LastOutcome
from reporter.model.samples import ScrapeResult
from reporter.settings import ScrapeMode
from tests.support.loading_pods import a_loading_pod


PORT = 5000
POD, OTHER = a_loading_pod(), a_loading_pod(namespace="team-b")


class FakeFetcher:
    """
    Brings its name as a page, or fails as it is told to.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fails: dict[str, ScrapeResult] = {}

    async def fetch(self, pod, port: int, _: LastOutcome) -> bytes:
        result = self.fails.get(pod.metadata.namespace)
        if result is not None:
            raise ScrapeError(result, "no")
        return self.name.encode()


class PathSelectorFixture:
    def __init__(self, mode=ScrapeMode.AUTO, grant=PermissionStatus.GRANTED) -> None:
        self.direct, self.proxy = FakeFetcher("direct"), FakeFetcher("proxy")
        self.grant: PermissionStatus = grant
        self.asked: list[str] = []
        self.ways = PathSelector(mode, self.direct, self.proxy, review_access=self._allowed)

    async def _allowed(self, namespace: str) -> PermissionStatus:
        self.asked.append(namespace)
        return self.grant

    async def read(self, pod=POD, times: int = 1) -> str:
        """
        What the last of so many attempts brought.
        """
        last = ""
        for _ in range(times):
            try:
                last = (await self.ways.fetch(pod, PORT, LastOutcome.NEW, self.path(pod))).decode()
            except ScrapeError as err:
                last = err.result
        return last

    def path(self, pod=POD, port: int = PORT) -> ScrapePath:
        return self.ways.path_for(pod.metadata.namespace, port)

    def unreachable(self, pod=POD, result=ScrapeResult.UNREACHABLE) -> None:
        self.direct.fails[pod.metadata.namespace] = result


async def test_pods_are_read_at_their_addresses_as_long_as_that_works():
    pods = PathSelectorFixture()
    assert await pods.read(times=5) == "direct"
    assert pods.asked == []


async def test_after_three_failures_to_connect_the_api_server_is_asked(caplog):
    caplog.set_level(logging.INFO)
    pods = PathSelectorFixture()
    pods.unreachable()
    assert await pods.read(times=3) == "unreachable"
    assert await pods.read() == "proxy"
    await pods.read(times=5)
    assert pods.asked == ["team-a"]
    assert [r.levelname for r in caplog.records] == ["INFO"]
    assert "namespace team-a" in caplog.text


async def test_each_namespace_has_a_way_of_its_own():
    pods = PathSelectorFixture()
    pods.unreachable()
    await pods.read(times=4)
    assert [await pods.read(), await pods.read(OTHER)] == ["proxy", "direct"]


async def test_a_pod_that_answers_in_between_shows_that_the_way_is_free():
    pods = PathSelectorFixture()
    for _ in range(5):
        pods.unreachable()
        await pods.read(times=2)
        pods.direct.fails.clear()
        assert await pods.read() == "direct"
    assert pods.asked == []


@pytest.mark.parametrize(
    "result",
    [ScrapeResult.REFUSED, ScrapeResult.TIMED_OUT, ScrapeResult.FAILED, ScrapeResult.BARRED],
)
async def test_a_pod_that_has_no_page_is_no_reason_for_a_detour(result):
    pods = PathSelectorFixture()
    pods.unreachable(result=result)
    assert await pods.read(times=10) == result
    assert pods.asked == []


async def test_without_the_right_it_stays_blind_and_says_so_once(caplog):
    pods = PathSelectorFixture(grant=PermissionStatus.MISSING)
    pods.unreachable()
    assert await pods.read(times=12) == "unreachable"
    assert pods.asked == ["team-a"] * 4
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "grant get pods/proxy" in caplog.text


async def test_a_right_that_is_given_later_is_used():
    pods = PathSelectorFixture(grant=PermissionStatus.MISSING)
    pods.unreachable()
    await pods.read(times=3)
    pods.grant = PermissionStatus.GRANTED
    await pods.read(times=3)
    assert await pods.read() == "proxy"


async def test_whether_it_may_is_asked_again_when_nobody_answered(caplog):
    pods = PathSelectorFixture(grant=PermissionStatus.UNKNOWN)
    pods.unreachable()
    await pods.read(times=6)
    assert pods.asked == ["team-a"] * 2
    assert caplog.records == []


async def test_a_right_that_is_taken_away_leads_back():
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
    assert pods.asked == []


async def test_who_waited_for_one_way_goes_it_whatever_has_turned_out_since():
    pods = PathSelectorFixture()
    pods.unreachable()
    before = pods.path()
    await pods.read(times=3)
    assert (before, pods.path()) == (ScrapePath.DIRECT, ScrapePath.PROXY)
    for _ in range(2 * 3):
        with pytest.raises(ScrapeError) as caught:
            await pods.ways.fetch(POD, PORT, LastOutcome.NEW, before)
        assert caught.value.result is ScrapeResult.UNREACHABLE
    assert (pods.path(), pods.asked) == (ScrapePath.PROXY, ["team-a"])


async def test_each_port_of_a_namespace_has_a_path_of_its_own():
    pods = PathSelectorFixture()
    pods.unreachable()
    await pods.read(times=3)
    assert pods.path() is ScrapePath.PROXY
    assert pods.path(port=8000) is ScrapePath.DIRECT
