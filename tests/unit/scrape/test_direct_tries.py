"""
The tries of the direct path: which pages, how many at a time, and what becomes of those that are gone.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta

import pytest

from reporter.kinds.core import Pod
from reporter.kube.access_review import PermissionStatus
from reporter.scrape.exchange import FetchedPage
from reporter.scrape.limits import MAX_DIRECT_TRIES
from reporter.scrape.path import DirectTries, PathSelector, ScrapePath
from reporter.scrape.samples import ScrapeError, ScrapeResult
from reporter.scrape.schedule import LastOutcome, ScrapeSchedule
from reporter.scrape.scrapes import MetricsPage
from reporter.settings import ScrapeMode
from tests.support.loading_pods import a_loading_pod


PORT = 5000
TEAMS = tuple(f"team-{number:02}" for number in range(20))


class Network:
    """The pods, of which only those in the namespaces *open* can be reached at their addresses."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.tried: list[tuple[str, str]] = []
        self.at_once = self.most = 0

    async def fetch(self, pod: Pod, _port: int, _: LastOutcome) -> FetchedPage:
        self.tried.append((pod.metadata.namespace, pod.metadata.name))
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if pod.metadata.namespace not in self.open:
            raise ScrapeError(ScrapeResult.UNREACHABLE, "no route")
        return FetchedPage(b"")


class Tries:
    """The tries where the pods of all namespaces are read through the API server."""

    def __init__(self, *pods: Pod, try_interval: timedelta = timedelta(0)) -> None:
        self.network, self.reached = Network(), 0
        self.paths = PathSelector(
            ScrapeMode.AUTO,
            self.network,
            self.network,
            review_access=self._grant,
            try_interval=try_interval,
        )
        self._schedule = ScrapeSchedule(timedelta(seconds=15))
        self._pods: dict[tuple[str, str], Pod] = {}
        self.put(*pods)
        self.tries = DirectTries(self.paths, self._schedule, self, on_reached=self._count)

    def put(self, *pods: Pod) -> None:
        self._pods = {(pod.metadata.namespace, pod.metadata.name): pod for pod in pods}
        pages = {MetricsPage(*name, PORT): pod.metadata.uid for name, pod in self._pods.items()}
        self._schedule.set_targets(pages, now=0)

    def lose(self, namespace: str, name: str) -> None:
        """Delete a pod of which the page is still to be read."""
        del self._pods[namespace, name]

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        return self._pods.get((namespace, name))

    async def use_the_proxy(self) -> None:
        for namespace, pod in {pod.metadata.namespace: pod for pod in self._pods.values()}.items():
            for _ in range(3):
                with pytest.raises(ScrapeError):
                    await self.paths.fetch(pod, PORT, LastOutcome.NEW, ScrapePath.DIRECT)
            assert self.path_of(namespace) is ScrapePath.PROXY
        self.network.tried.clear()
        self.network.most = 0

    async def run(self) -> list[tuple[str, str]]:
        """Try what is due, and return the pods."""
        self.network.tried.clear()
        await self.tries.run_due()
        return sorted(self.network.tried)

    def path_of(self, namespace: str) -> ScrapePath:
        return self.paths.path_for(namespace, PORT)

    def paths_of(self, namespaces: Iterable[str]) -> set[ScrapePath]:
        return {self.path_of(each) for each in namespaces}

    def _count(self) -> None:
        self.reached += 1

    async def _grant(self, _: str) -> PermissionStatus:
        return PermissionStatus.GRANTED


async def test_each_time_another_pod_of_a_namespace_is_tried():
    names = ["a-0", "b-0", "c-0"]
    found = Tries(*(a_loading_pod(name, namespace="team-a") for name in names))
    await found.use_the_proxy()
    tried = [await found.run() for _ in range(6)]
    assert {len(each) for each in tried} == {1}
    assert sorted(name for ((_, name),) in tried[:3]) == names
    assert (found.reached, found.path_of("team-a")) == (0, ScrapePath.PROXY)


async def test_what_can_be_reached_again_is_read_directly_and_tried_no_more():
    found = Tries(*(a_loading_pod(namespace=each) for each in TEAMS[:3]))
    await found.use_the_proxy()
    found.network.open = {TEAMS[1]}
    assert len(await found.run()) == 3
    assert found.reached == 1
    assert [found.path_of(each) is ScrapePath.DIRECT for each in TEAMS[:3]] == [False, True, False]
    assert {namespace for namespace, _ in await found.run()} == {TEAMS[0], TEAMS[2]}


async def test_only_so_many_are_tried_at_the_same_time_and_the_others_are_next():
    found = Tries(*(a_loading_pod(namespace=each) for each in TEAMS))
    await found.use_the_proxy()
    first, second = await found.run(), await found.run()
    assert len(first) == len(second) == found.network.most == MAX_DIRECT_TRIES
    assert {namespace for namespace, _ in first + second} == set(TEAMS)


async def test_nothing_is_tried_before_its_time():
    found = Tries(a_loading_pod(), try_interval=timedelta(minutes=10))
    await found.use_the_proxy()
    assert await found.run() == []


async def test_a_namespace_without_pages_is_forgotten():
    found = Tries(*(a_loading_pod(namespace=each) for each in TEAMS[:2]))
    await found.use_the_proxy()
    found.put(a_loading_pod(namespace=TEAMS[0]))
    assert [namespace for namespace, _ in await found.run()] == [TEAMS[0]]
    assert found.paths.due_tries() == [(TEAMS[0], PORT)]
    assert found.path_of(TEAMS[1]) is ScrapePath.DIRECT


async def test_a_pod_that_is_gone_is_no_try_and_the_next_one_follows():
    found = Tries(*(a_loading_pod(name, namespace="team-a") for name in ("a-0", "b-0")))
    await found.use_the_proxy()
    found.lose("team-a", "b-0")
    assert sorted(await found.run() + await found.run()) == [("team-a", "a-0")]
    assert found.paths.due_tries() == [("team-a", PORT)]
