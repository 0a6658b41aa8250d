"""The scraper reads pods on real sockets that simulate downloads, and the store is evaluated."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from aiohttp import web
from msgspec.structs import replace

from reporter.kinds.core import PODS
from reporter.scrape.path import ScrapePath
from reporter.scrape.schedule import LastOutcome
from reporter.settings import ScrapeMode
from tests.integration.scrape.scraper_fixture import (
    INTERVAL,
    many_pods,
    pods_for_downloads,
    scraping,
)
from tests.support.downloads import SPEED
from tests.support.loading_pods import TEAM, a_loading_pod
from tests.support.stubs.api_servers import until
from tests.support.stubs.exporter import SIMULATED_DOWNLOADS, StubExporter


async def test_each_download_scene_has_its_verdict(tmp_path):
    pods, stub = pods_for_downloads(
        "slow", "stall", "dip", "half", "fast", "finished", "streaming", "dead"
    )
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("slow") == "slow-0-0=Slow")
        await until(lambda: run.verdict("stall") == "stall-1-0=Stalled")
        seen = stub.requested.count("127.0.7.3")
        await until(lambda: stub.requested.count("127.0.7.3") > seen + 4)
    found = {model: set(verdicts) for model, verdicts in run.verdicts.items()}
    for model in ("dip", "half", "fast", "finished", "streaming"):
        assert found[model] <= {"clear", "unknown"}, run.verdicts[model]
        assert run.verdict(model) == "clear"
    assert found["dead"] == {"unknown"}
    assert run.results["read"] > 30
    assert run.results["failed"] >= 2


async def test_one_slow_pod_of_four_is_reported(tmp_path):
    pods, stub = pods_for_downloads("fast", "fast", "slow", "fast", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-2-0=Slow")


async def test_a_restarted_pod_starts_without_history(tmp_path):
    pods, stub = pods_for_downloads("slow", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        run.store.upsert(PODS, a_loading_pod("qwen-0-0", ip="127.0.7.1", restarts=1))
        assert run.verdict("qwen") == "unknown"
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")


async def test_a_pod_that_stops_answering_becomes_unknown_until_it_answers(tmp_path):
    pods, stub = pods_for_downloads("slow", one_model="qwen")
    async with stub, scraping(tmp_path, *pods, port=stub.port) as (run, _):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        stub.downloads["127.0.7.1"] = SIMULATED_DOWNLOADS["dead"]
        await until(lambda: run.verdict("qwen") == "unknown")
        stub.downloads["127.0.7.1"] = SIMULATED_DOWNLOADS["slow"]
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")


async def test_new_pods_are_read_and_ready_or_deleted_ones_are_not(tmp_path):
    pods, stub = pods_for_downloads("fast", "fast", one_model="qwen")
    async with stub, scraping(tmp_path, port=stub.port) as (run, _):
        run.store.upsert(PODS, pods[0])
        await until(lambda: stub.requested.count("127.0.7.1") > 1)
        run.store.upsert(PODS, a_loading_pod("qwen-0-0", ip="127.0.7.1", ready=True))
        await until(lambda: run.verdict("qwen") == "clear")
        run.store.upsert(PODS, pods[1])
        await until(lambda: stub.requested.count("127.0.7.2") > 0)
        before = stub.requested.count("127.0.7.1")
        await until(lambda: stub.requested.count("127.0.7.2") > 4)
        assert stub.requested.count("127.0.7.1") - before <= 1


async def test_an_address_that_no_pod_has_is_not_read(tmp_path):
    pods, stub = pods_for_downloads("slow", one_model="qwen")
    async with (
        stub,
        scraping(tmp_path, *pods[:1], port=stub.port, allowed=lambda _: False) as (
            run,
            _,
        ),
    ):
        await until(lambda: run.results["barred"] > 1)
        assert (stub.requested, run.verdict("qwen")) == ([], "unknown")


async def test_pods_are_read_through_the_api_server(tmp_path):
    pods, stub = pods_for_downloads("slow", one_model="qwen")
    async with (
        stub,
        scraping(tmp_path, *pods, port=stub.port, mode=ScrapeMode.PROXY) as (run, server),
    ):
        await until(lambda: run.verdict("qwen") == "qwen-0-0=Slow")
        paths = {path for _, path in server.requests}
        assert paths == {f"/api/v1/namespaces/{TEAM}/pods/qwen-0-0:{stub.port}/proxy/metrics"}


NO_ROUTE = "255.255.255.255"


async def test_pods_that_can_be_reached_again_are_read_directly_without_a_budget(tmp_path):
    """A page an hour passes through the API server, so that all others wait for the way back."""
    pods, stub = pods_for_downloads("slow", "fast", "dip")
    lost = [replace(each, status=replace(each.status, pod_ip=NO_ROUTE)) for each in pods]
    how = {"mode": ScrapeMode.AUTO, "proxied_per_minute": 1 / 60, "evaluating": False}
    async with stub, scraping(tmp_path, *lost, port=stub.port, **how) as (run, server):
        await until(lambda: set(run.scraper.page_ages()) == {ScrapePath.PROXY})
        await until(lambda: any("/proxy" in path for _, path in server.requests))
        assert run.scraper.page_ages() == {ScrapePath.PROXY: timedelta(hours=3)}
        for pod in pods:
            run.store.upsert(PODS, pod)
        await until(lambda: set(stub.requested) >= {pod.status.pod_ip for pod in pods})
        assert run.scraper.page_ages() == {ScrapePath.DIRECT: INTERVAL}
        await until(lambda: run.scraper.count_pages()[LastOutcome.SUCCEEDED] == len(pods))
        assert sum("/proxy" in path for _, path in server.requests) == 1


async def test_pods_that_stay_unreachable_are_read_through_the_api_server(tmp_path):
    pod = a_loading_pod(ip=NO_ROUTE)
    async with scraping(tmp_path, pod, port=9, mode=ScrapeMode.AUTO, evaluating=False) as (
        run,
        server,
    ):
        await until(lambda: sum("/proxy" in path for _, path in server.requests) > 2)
        assert set(run.scraper.page_ages()) == {ScrapePath.PROXY}


async def test_without_the_permission_the_verdict_is_unknown(tmp_path):
    pods, stub = pods_for_downloads("slow", one_model="qwen")
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
            body=SIMULATED_DOWNLOADS["fast"](30), headers={"Content-Type": "text/plain"}
        )

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", 0).start()
    port = runner.addresses[0][1]
    pods = many_pods(600)
    interval = timedelta(seconds=0.5)  # far too short for so many, so that they queue
    try:
        async with scraping(tmp_path, *pods, port=port, interval=interval, evaluating=False):
            await until(lambda: len(asked) == len(pods))
            await until(lambda: min(asked.values()) > 1)
    finally:
        await runner.cleanup()
    assert 64 < most <= 512
    assert max(asked.values()) - min(asked.values()) <= 4


async def test_of_thousands_that_hang_none_keeps_others_from_being_read_old_or_new(tmp_path):
    """All this takes far less time than one try of each pod."""
    asked: Counter[str] = Counter()

    async def hang_or_answer(reader, writer):
        address = writer.get_extra_info("sockname")[0]
        asked[address] += 1
        await reader.readuntil(b"\r\n\r\n")
        if address.startswith("127.0.7."):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + SIMULATED_DOWNLOADS["fast"](30))
        else:
            await reader.read()
        writer.close()

    pods, _ = pods_for_downloads("fast", "fast", "fast")
    hanging = [a_loading_pod(f"p{n}-0", ip=f"127.0.{8 + n // 256}.{n % 256}") for n in range(2000)]
    async with await asyncio.start_server(hang_or_answer, "0.0.0.0", 0, backlog=1024) as server:
        port = server.sockets[0].getsockname()[1]
        async with scraping(tmp_path, pods[0], port=port, evaluating=False) as (run, _):
            await until(lambda: run.results["read"] > 0)
            for each in (*hanging, pods[1]):
                run.store.upsert(PODS, each)
            await until(lambda: len(asked) > 300)
            run.store.upsert(PODS, pods[2])
            before = asked["127.0.7.1"]
            await until(lambda: asked["127.0.7.3"] > 2 and asked["127.0.7.1"] - before >= 2)
            assert len(asked) < len(hanging)
            await until(lambda: asked["127.0.7.2"] > 0)


@pytest.mark.parametrize(
    "body", [b"<html></html>\n", b"\x00\x01", b"a 1", SPEED.encode() + b" x\n"]
)
async def test_a_page_that_cannot_be_used_is_unknown(tmp_path, body):
    async with StubExporter({"127.0.7.1": lambda _: body}) as stub:
        pod = a_loading_pod(ip="127.0.7.1")
        async with scraping(tmp_path, pod, port=stub.port) as (run, _):
            await until(lambda: run.results["unusable"] > 0)
            assert run.verdict("qwen") == "unknown"


async def test_through_the_api_server_only_so_many_pages_a_minute_are_read(tmp_path):
    pods = many_pods(40)
    how = {"mode": ScrapeMode.PROXY, "port": 9, "proxied_per_minute": 600}
    async with scraping(tmp_path, *pods, evaluating=False, **how) as (run, server):
        await asyncio.sleep(3)
        asked = [path for _, path in server.requests if "/proxy" in path]
        assert 10 <= len(asked) <= 32, "ten a second, although 80 are due"
        assert len(set(asked)) == len(asked), "none is read twice before all were"
        assert sum(run.results.values()) <= len(asked)
