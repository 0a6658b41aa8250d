"""Each reason of engines is found on the page of each recorded vLLM, whatever names and labels that has."""

import re

import pytest

from reporter.stories.catalogues import SHIPPED
from reporter.stories.metrics_pages import PAGES
from reporter.stories.story_replay import StoryReplay


VLLM = {each.stem: each.read_text("utf-8") for each in sorted(PAGES.glob("vllm-*.txt"))}
COUNTS_REQUESTS = [name for name, text in VLLM.items() if "\nhttp_requests_total{" in text]
POD = "Pod team-m/qwen-7rk2p-0"
WORKS = {"steps": 20, "prompt": 100, "generation": 150, "finished": 0.5}
STANDS_STILL = dict.fromkeys(WORKS, 0)


def announced(page: str, reason: str, before: dict, then: dict) -> list[str]:
    """Return the Events of an engine that works for two minutes, and then has another page."""
    works = {"page": page, "values": {"running": 3, **before}, "rates": WORKS}
    story = {
        "why": "",
        "of": [reason],
        "overlay": {"reasons": {reason: {"enabled": True}}},
        "given": {"pages": {POD: works}},
        "story": [{"at": "2m", "pages": {POD: then}}],
        "until": "8m",
        "announced": {},
    }
    return StoryReplay(story, SHIPPED).run().announced


def kv_cache(page: str, usage: float) -> dict:
    """Return the usage by each name that the page has."""
    names = {"kv-old": "vllm:gpu_cache_usage_perc", "kv": "vllm:kv_cache_usage_perc"}
    found = {key: usage for key, name in names.items() if f"\n{name}{{" in VLLM[page]}
    return {
        f"kv@{each}" if "processes" in page and key == "kv" else key: usage
        for key in found
        for each in (1, 2)
    }


@pytest.mark.parametrize("page", VLLM)
def test_a_recorded_page_says_of_which_release_it_is(page):
    heading = VLLM[page].partition("\n")[0]
    assert re.fullmatch(
        r"# vLLM \d+\.\d+\.\d+, engine V[01]: recorded on \d{4}-\d\d-\d\d by `make record-engines` .*",
        heading,
    )


@pytest.mark.parametrize("page", VLLM)
def test_an_engine_that_stands_still_while_requests_come(page):
    more = {"rates": {**STANDS_STILL, "waiting": 0.1}}
    (event,) = announced(page, "inferencesetEngineStalled", {"waiting": 0}, more)
    assert "makes no progress for 2m: 3 requests running" in event


@pytest.mark.parametrize("page", COUNTS_REQUESTS)
def test_an_engine_that_stands_still_behind_a_server_that_answers(page):
    more = {"rates": {**STANDS_STILL, "http": 0.1}}
    (event,) = announced(page, "inferencesetEngineStalled", {}, more)
    assert "makes no progress for 2m: 3 requests running, 0 waiting" in event


@pytest.mark.parametrize("page", VLLM)
def test_a_full_kv_cache(page):
    full = {"values": {"waiting": 12, **kv_cache(page, 0.98)}}
    (event,) = announced(page, "inferencesetKVCacheSaturated", kv_cache(page, 0.3), full)
    assert "has had a full KV cache for 5m (98% now): 3 requests running, 12 waiting" in event


@pytest.mark.parametrize("page", VLLM)
def test_a_long_queue(page):
    long = {"values": {"waiting": 40}}
    (event,) = announced(page, "inferencesetQueueGrowing", {"waiting": 0}, long)
    assert "has had a long queue for 5m: 40 requests waiting, 3 running" in event


@pytest.mark.parametrize("page", VLLM)
def test_a_storm_of_preemptions(page):
    storm = {"rates": {**WORKS, "preemptions": 0.5}}
    (event,) = announced(page, "inferencesetPreemptionStorm", {}, storm)
    assert "preempted requests" in event


@pytest.mark.parametrize("page", COUNTS_REQUESTS)
def test_failed_requests(page):
    failing = {"rates": {**WORKS, "http": 0.4, "http-errors": 0.1}}
    (event,) = announced(page, "inferencesetRequestErrors", {}, failing)
    assert re.search(r"failed \d+ of \d+ requests", event)


def test_an_engine_that_sleeps_is_well_if_its_page_says_so():
    says = [name for name, text in VLLM.items() if "\nvllm:engine_sleep_state{" in text]
    assert {*says} >= {"vllm-0.11", "vllm-v1", "vllm-new"}
    for page in says:
        second = {"awake/1": 0} if page == "vllm-v1-engines" else {}
        asleep = {"awake": 0, "waiting": 2, **second}
        then = {"values": asleep, "rates": {**STANDS_STILL, "http": 0.1}}
        assert announced(page, "inferencesetEngineStalled", {}, then) == [], page
