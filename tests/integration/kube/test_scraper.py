"""
The scraper at work: pods on real sockets play what downloads do, and the store is judged.

A minute of the pods takes two seconds here, for them and for the clock alike.
"""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from aiohttp import web

from reporter.embedded.server import EmbeddedServer
from reporter.kube.scrape.scraper import ScrapeConfig, Scraper
from reporter.model.enums import Layer, Reason
from reporter.model.kinds.core.pods import PODS
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Unknown
from reporter.settings import ScrapeMode
from reporter.stages.probes.modeldeployment.weight_download import PROBE
from reporter.stages.probes.probe import ProbeRequest
from reporter.stages.resources.downloads import REMAINING_SECONDS_METRIC
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.downloads import SPEED
from tests.support.loading_pods import TEAM, a_loading_pod, a_loading_store
from tests.support.stubs.api_servers import a_kubeconfig, connected, until
from tests.support.stubs.exporter import DOWNLOAD_SCENES, StubExporter


SPEEDUP = 30.0
INTERVAL = timedelta(seconds=15 / SPEEDUP)
ENTRY = DEFAULT_CATALOGUE[Reason("inferencesetWeightDownloadSlow")]


class AcceleratedClock:
    """
    Noon when it is made, and a minute later after two seconds.
    """

    def __init__(self) -> None:
        self._began = asyncio.get_running_loop().time()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=asyncio.get_running_loop().time() - self._began) * SPEEDUP


class ScraperFixture:
    """
    *verdicts*: of each model, in words, whenever something that matters changed; if it is judged.
    """

    def __init__(self, store, *, judging: bool) -> None:
        self.store = store
        self.results: Counter[str] = Counter()
        self.verdicts: dict[str, list[str]] = {}
        if judging:
            store.subscribe(self._changed)

    def _changed(self) -> None:
        for subject in sorted(self.store.take_dirty()):
            if subject.name:
                self.verdicts.setdefault(subject.name, []).append(self.verdict(subject.name))

    def verdict(self, model: str) -> str:
        subject = Subject(Layer.MODELDEPLOYMENT, TEAM, model)
        question = ProbeRequest(ENTRY.reason, subject, ENTRY.parameters, DEFAULT_FLAGS)
        (found,) = PROBE.evaluate(self.store.snapshot(), question)
        if isinstance(found, Active):
            return " ".join(f"{t.cause.object.name}={t.cause.code}" for t in found.troubles)
        return "unknown" if isinstance(found, Unknown) else "clear"

    def counted(self, result) -> None:
        self.results[str(result)] += 1


@asynccontextmanager
async def scraping(folder, *pods, mode=ScrapeMode.DIRECT, port, **how):
    """
    A scraper over a store with these pods. The API server is there and knows them too.
    """
    async with (
        EmbeddedServer() as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        for pod in pods:
            _put(server, pod)
        store = a_loading_store(*pods)
        run = ScraperFixture(store, judging=how.pop("judging", True))
        allowed = how.pop("allowed", lambda _: True)
        plan = ScrapeConfig(
            (SPEED, REMAINING_SECONDS_METRIC), port, how.pop("interval", INTERVAL), mode, allowed
        )
        scraper = Scraper(plan, store, AcceleratedClock(), api, on_result=run.counted)
        task = group.create_task(scraper.run())
        yield run, server
        task.cancel()


def _put(server: EmbeddedServer, pod) -> None:
    meta = {"name": pod.metadata.name, "namespace": pod.metadata.namespace}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}}
    server.cluster.upsert(namespace)
    status = {"podIP": pod.status.pod_ip}
    server.cluster.upsert({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": status})


def pods_for_scenes(*names: str, one_model: str = ""):
    """
    A pod for each scene, at an address of its own, of a model of the scene's name or of one.
    """
    pods, scenes = [], {}
    for number, name in enumerate(names):
        address = f"127.0.7.{number + 1}"
        pod_name = f"{one_model or name}-{number}-0"
        pods.append(a_loading_pod(pod_name, model=one_model or name, ip=address))
        scenes[address] = DOWNLOAD_SCENES[name]
    return pods, StubExporter(scenes, haste=SPEEDUP)


def many_pods(many: int):
    return [a_loading_pod(f"p{n}-0", ip=f"127.0.{8 + n // 256}.{n % 256}") for n in range(many)]


async def test_each_scene_is_judged_as_it_is(tmp_path):
    pods, stub = pods_for_scenes(
        "slow", "stall", "dip", "half", "fast", "finished", "streaming", "dead"
    )
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("slow") == "slow-0-0=Slow")
        await until(lambda: run.verdict("stall") == "stall-1-0=Stalled")
        seen = stub.asked.count("127.0.7.3")
        await until(lambda: stub.asked.count("127.0.7.3") > seen + 4)
    said = {model: set(verdicts) for model, verdicts in run.verdicts.items()}
    for model in ("dip", "half", "fast", "finished", "streaming"):
        assert said[model] <= {"clear", "unknown"}, run.verdicts[model]
        assert run.verdict(model) == "clear"
    assert said["dead"] == {"unknown"}
    assert run.results["read"] > 30
    assert run.results["failed"] >= 2


async def test_one_slow_pod_of_four_is_told_of(tmp_path):
    pods, stub = pods_for_scenes("fast", "fast", "slow", "fast", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-2-0=Slow")


async def test_a_pod_that_restarts_is_judged_anew(tmp_path):
    pods, stub = pods_for_scenes("slow", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        run.store.upsert(PODS, a_loading_pod("qwen-0-0", ip="127.0.7.1", restarts=1))
        assert run.verdict("qwen") == "unknown"
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")


async def test_a_pod_that_dies_becomes_unknown_and_is_asked_less_often(tmp_path):
    pods, stub = pods_for_scenes("slow", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        stub.scenes["127.0.7.1"] = DOWNLOAD_SCENES["dead"]
        await until(lambda: run.verdict("qwen") == "unknown")
        stub.scenes["127.0.7.1"] = DOWNLOAD_SCENES["slow"]
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")


async def test_pods_that_come_are_read_and_those_that_are_ready_or_gone_are_left_alone(tmp_path):
    pods, stub = pods_for_scenes("fast", "fast", one_model="qwen")
    async with stub, scraping(tmp_path, port=stub.port) as (run, _):
        run.store.upsert(PODS, pods[0])
        await until(lambda: stub.asked.count("127.0.7.1") > 1)
        run.store.upsert(PODS, a_loading_pod("qwen-0-0", ip="127.0.7.1", ready=True))
        await until(lambda: run.verdict("qwen") == "clear")
        run.store.upsert(PODS, pods[1])
        await until(lambda: stub.asked.count("127.0.7.2") > 0)
        before = stub.asked.count("127.0.7.1")
        await until(lambda: stub.asked.count("127.0.7.2") > 4)
        assert stub.asked.count("127.0.7.1") - before <= 1


async def test_an_address_that_no_pod_has_is_not_read(tmp_path):
    pods, stub = pods_for_scenes("slow", one_model="qwen")
    async with (
        stub,
        scraping(tmp_path, *pods[:1], port=stub.port, allowed=lambda _: False) as (
            run,
            _,
        ),
    ):
        await until(lambda: run.results["barred"] > 1)
        assert (stub.asked, run.verdict("qwen")) == ([], "unknown")


async def test_pods_are_read_through_the_api_server(tmp_path):
    pods, stub = pods_for_scenes("slow", one_model="qwen")
    async with (
        stub,
        scraping(tmp_path, *pods, port=stub.port, mode=ScrapeMode.PROXY) as (run, server),
    ):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        paths = {path for _, path in server.requests}
        assert paths == {f"/api/v1/namespaces/{TEAM}/pods/qwen-0-0:{stub.port}/proxy/metrics"}


async def test_a_right_that_is_missing_leaves_it_unknown(tmp_path):
    pods, stub = pods_for_scenes("slow", one_model="qwen")
    async with (
        stub,
        scraping(tmp_path, *pods, port=stub.port, mode=ScrapeMode.PROXY) as (run, server),
    ):
        denial = server.deny("get", "", "pods/proxy")
        await until(lambda: run.results["forbidden"] > 0)
        assert run.verdict("qwen") == "unknown"
        server.allow(denial)
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")


async def test_many_pods_are_read_in_time_but_never_too_many_at_once(tmp_path):
    at_once, most = 0, 0
    asked: Counter[str] = Counter()

    async def answer(request):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        asked[request.transport.get_extra_info("sockname")[0]] += 1
        await asyncio.sleep(0.3)
        at_once -= 1
        return web.Response(
            body=DOWNLOAD_SCENES["fast"](30), headers={"Content-Type": "text/plain"}
        )

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", 0).start()
    port = runner.addresses[0][1]
    pods = many_pods(600)
    interval = timedelta(seconds=0.5)  # far too short for so many, so that they queue
    try:
        async with scraping(tmp_path, *pods, port=port, interval=interval, judging=False):
            await until(lambda: len(asked) == len(pods), within=30)
            await until(lambda: min(asked.values()) > 1, within=30)
    finally:
        await runner.cleanup()
    assert 64 < most <= 512
    assert max(asked.values()) - min(asked.values()) <= 4


async def test_of_thousands_that_hang_none_keeps_others_from_being_read_old_or_new(tmp_path):
    """
    In far less time than it takes to try each of them once.
    """
    asked: Counter[str] = Counter()

    async def hang_or_answer(reader, writer):
        address = writer.get_extra_info("sockname")[0]
        asked[address] += 1
        if address.startswith("127.0.7."):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + DOWNLOAD_SCENES["fast"](30))
        else:
            await reader.read()
        writer.close()

    pods, _ = pods_for_scenes("fast", "fast", "fast")
    hanging = [a_loading_pod(f"p{n}-0", ip=f"127.0.{8 + n // 256}.{n % 256}") for n in range(2000)]
    async with await asyncio.start_server(hang_or_answer, "0.0.0.0", 0, backlog=1024) as server:
        port = server.sockets[0].getsockname()[1]
        async with scraping(tmp_path, pods[0], port=port, judging=False) as (run, _):
            await until(lambda: run.results["read"] > 0)
            for each in (*hanging, pods[1]):
                run.store.upsert(PODS, each)
            await until(lambda: len(asked) > 300)
            run.store.upsert(PODS, pods[2])
            before = asked["127.0.7.1"]
            await until(lambda: asked["127.0.7.3"] > 2)
            assert asked["127.0.7.1"] - before >= 2
            assert len(asked) < len(hanging)
            await until(lambda: asked["127.0.7.2"] > 0, within=60)


@pytest.mark.parametrize(
    "body", [b"<html></html>\n", b"\x00\x01", b"a 1", SPEED.encode() + b" x\n"]
)
async def test_a_page_that_cannot_be_used_is_unknown(tmp_path, body):
    async with StubExporter({"127.0.7.1": lambda _: body}) as stub:
        pod = a_loading_pod(ip="127.0.7.1")
        async with scraping(tmp_path, pod, port=stub.port) as (run, _):
            await until(lambda: run.results["unusable"] > 0)
            assert run.verdict("qwen") == "unknown"
