"""Engines that have requests and make no progress."""

from datetime import timedelta
from math import nan

import pytest

from reporter.evaluation.registry import PROBES
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.scrape.samples import ContainerRun, PageSamples, ScrapedMetrics, ScrapeHistory
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_FLAGS
from tests.support.engines import a_page, a_sample, parameters_of, verdict_of_pages


REASON = "inferencesetEngineStalled"
POD = "qwen-7rk2p-0"


def verdict(*pages, name=POD, **changes):
    return verdict_of_pages(REASON, {name: pages}, **changes)


def hung(begin=0, end=150, every=15, *, worked=True, grows=True):
    """Pages of an engine that worked until *begin* and has stood still since."""
    if worked:
        yield begin - every, a_page(running=3, waiting=6, steps=5, tokens=50)
    for at in range(begin, end, every):
        waiting = 6 + (at > begin) * grows
        yield at, a_page(running=3, waiting=waiting, steps=9, tokens=90)


def code_of(found) -> str:
    assert isinstance(found, Active), found
    return found.troubles[0].cause.code


@pytest.mark.parametrize(("end", "expected"), [(121, Active), (120, Clear)])
def test_an_engine_is_stalled_after_the_window_and_not_before(end, expected):
    assert isinstance(verdict(*hung(end=end)), expected)


def test_the_message_has_pod_engine_duration_and_requests():
    fields = verdict(*hung(end=181)).troubles[0].message_fields
    assert (fields["extent"], fields["place"]) == ("", f"engine 0 of pod {POD}")
    assert fields["state"] == "makes no progress for 3m: 3 requests running, 7 waiting"


def test_the_duration_of_a_stall_is_not_limited_by_what_is_kept():
    state = verdict(*hung(end=3601)).troubles[0].message_fields["state"]
    assert state.startswith("makes no progress for 60m: ")


@pytest.mark.parametrize("moving", ["steps", "tokens", "finished", "vllm:prompt_tokens_total"])
def test_one_counter_that_moves_is_progress(moving):
    pages = [
        (at, (*page, a_sample(moving, at, engine="0")))
        if moving not in {"steps", "tokens"}
        else (at, a_page(running=3, waiting=at, **{"steps": 9, "tokens": 9, moving: 100 + at}))
        for at, page in hung(end=600)
    ]
    assert isinstance(verdict(*pages), Clear)


@pytest.mark.parametrize("running", [0, 3])
def test_without_new_traffic_it_may_be_idle(running):
    def pages(end):
        for at in range(-15, end, 15):
            yield at, a_page(running=running, waiting=6, steps=9 - (at < 0))

    assert isinstance(verdict(*pages(end=120)), Clear)
    found = verdict(*pages(end=3600))
    assert isinstance(found, Unknown)
    assert not found.is_brief
    assert "may be left over from aborted ones" in found.why


def test_requests_that_arrive_at_the_http_server_are_traffic_and_health_checks_are_none():
    def with_http(handler):
        for at, page in hung(end=135, grows=False):
            yield at, (*page, a_sample("http", 10 + at, handler=handler, status="2xx"))

    assert code_of(verdict(*with_http("/v1/completions"))) == "Stalled"
    assert isinstance(verdict(*with_http("/health")), Unknown)


@pytest.mark.parametrize(
    ("handler", "status", "counts"),
    [
        ("/v1/completions", "2xx", True),
        ("/v1/completions", "5xx", True),
        ("/v1/completions", "4xx", False),
        ("/v1/completions", "404", False),
        ("/tokenize", "2xx", False),
        ("/v1/load_lora_adapter", "2xx", False),
        ("/v1/responses/{response_id}", "2xx", False),
        ("none", "5xx", False),
    ],
)
def test_requests_that_never_reach_the_engine_are_no_traffic(handler, status, counts):
    def pages():
        for at, page in hung(end=135, grows=False):
            yield at, (*page, a_sample("http", 10 + at, handler=handler, status=status))

    assert isinstance(verdict(*pages()), Active if counts else Unknown)


def test_a_change_of_the_kv_cache_is_progress():
    def pages(moves):
        for at, page in hung(end=600):
            http = a_sample("http", 10 + at, handler="/v1/completions", status="2xx")
            yield at, (*page, http, *a_page(kv=0.1 + 0.001 * min(at, moves)))

    assert isinstance(verdict(*pages(moves=600)), Clear)
    assert code_of(verdict(*pages(moves=300))) == "Stalled"


def test_a_queue_that_nothing_takes_from_is_a_stall():
    pages = [(at, a_page(running=0, waiting=5, steps=9)) for at in range(0, 135, 15)]
    assert code_of(verdict((-15, a_page(running=0, waiting=0, steps=9)), *pages)) == "Stalled"


def test_four_pages_are_needed_whatever_the_time_between_them():
    pages = list(hung(end=161, every=40))
    assert isinstance(verdict(*pages[:4]), Clear)
    assert isinstance(verdict(*pages), Active)


def test_a_process_that_has_just_started_does_not_know_yet():
    assert isinstance(verdict(*hung(end=90, worked=False)), Unknown)


@pytest.mark.parametrize(
    "page",
    [
        a_page(running=3, steps=nan, tokens=nan),
        a_page(running=3, finished=4),
        a_page(running=nan, waiting=nan, steps=4),
        (),
    ],
)
def test_a_page_that_lacks_what_is_needed_is_unknown(page):
    assert isinstance(verdict(*((at, page) for at in range(0, 600, 15))), Unknown)


def test_a_page_that_cannot_be_read_is_unknown():
    found = verdict(*hung(), (150, "timeout"))
    assert isinstance(found, Unknown)
    assert found.why == f"pod {POD}: timeout"


def test_a_gap_counts_as_nothing():
    before = list(hung(end=61))
    after = [(at + 3600, page) for at, page in before[-1:]]
    assert isinstance(verdict(*before, *after), Clear)
    more = [(3660 + at, before[-1][1]) for at in range(15, 76, 15)]
    assert isinstance(verdict(*before, *after, *more), Active)


def test_progress_across_gaps_is_progress():
    pages = [(n * 60, a_page(running=3, steps=n, tokens=n)) for n in range(3)]
    assert isinstance(verdict(*pages), Clear)
    assert isinstance(verdict(*pages[:1]), Unknown)


def test_what_more_pages_will_show_is_brief_and_a_page_that_fails_is_not():
    assert verdict(*hung(end=90, worked=False)).is_brief
    assert not verdict().is_brief
    assert not verdict(*hung(), (150, "timeout")).is_brief
    assert not verdict((0, a_page(running=3, finished=4))).is_brief


@pytest.mark.parametrize("jump", [-7200, 7200])
def test_a_clock_that_jumps_counts_as_nothing(jump):
    pages = list(hung(end=61))
    assert isinstance(verdict(*pages, (60 + jump, pages[-1][1])), Clear)


def test_a_stall_begins_anew_when_a_counter_falls():
    pages = list(hung(end=105))
    reset = [(at, a_page(running=3, waiting=7, steps=1, tokens=1)) for at in range(105, 210, 15)]
    assert isinstance(verdict(*pages, *reset), Unknown)


def test_each_engine_is_evaluated_alone():
    def pages(*moving):
        for at in range(-15, 135, 15):
            one = a_page(running=1, waiting=at + 20, steps=100 + at * (0 in moving))
            two = a_page(running=1, waiting=at + 20, steps=100 + at * (1 in moving), engine="1")
            yield at, (*one, *two)

    (trouble,) = verdict(*pages(0)).troubles
    assert trouble.cause.code == "Degraded.Stalled"
    assert not trouble.is_out
    assert trouble.message_fields["extent"] == "degraded, 1 of 2 engines is stalled: "
    (trouble,) = verdict((-30, a_page(running=0, steps=1)), *pages()).troubles
    assert trouble.cause.code == "Stalled"
    assert trouble.is_out
    assert trouble.message_fields["place"] == f"engines 0, 1 of pod {POD}"


def test_engines_beyond_those_that_are_kept_are_unknown():
    def pages(stalled):
        for at in range(-15, 135, 15):
            moved = 100 + at * (not stalled)
            engines = (
                a_page(running=1, waiting=at + 20, steps=moved if n == 3 else at, engine=str(n))
                for n in range(65)
            )
            yield at, tuple(sample for page in engines for sample in page)

    found = verdict(*pages(stalled=False))
    assert isinstance(found, Unknown)
    assert found.why == f"pod {POD}: its page has more than 64 engines"
    assert code_of(verdict(*pages(stalled=True))) == "Degraded.Stalled"


def test_requests_that_are_counted_with_the_last_step_are_no_new_traffic():
    def pages(last):
        for at, page in hung(end=135, grows=False):
            counted = a_sample("http", min(at, last), handler="/v1/completions", status="2xx")
            yield at, (*page, counted)

    assert isinstance(verdict(*pages(15)), Unknown)
    assert code_of(verdict(*pages(60))) == "Stalled"


@pytest.mark.parametrize("missing", ["running", "waiting"])
def test_a_gauge_that_is_missing_is_not_zero(missing):
    def pages(**values):
        present = {name: value for name, value in values.items() if name != missing}
        return ((at, a_page(steps=9, **present)) for at in range(-15, 400, 15))

    assert isinstance(verdict(*pages(running=0, waiting=0)), Unknown)
    idle = (-30, a_page(running=0, waiting=0, steps=9))
    assert isinstance(verdict(idle, *pages(running=2, waiting=2)), Active)


def test_a_pod_that_cannot_be_evaluated_hides_no_other():
    pages = {"qwen-7rk2p-0": hung(), "qwen-b2-0": [(0, "timeout")]}
    found = verdict_of_pages(REASON, pages)
    assert code_of(found) == "Degraded.Stalled"
    assert found.why_partial == "pod qwen-b2-0: timeout"


def test_windows_are_parameters():
    assert isinstance(verdict(*hung(end=61), window_seconds=60), Active)
    assert isinstance(verdict(*hung(end=301), window_seconds=600), Clear)


def test_an_interval_of_a_minute_keeps_enough_pages():
    parameters = parameters_of(REASON)
    build = PROBES["engine-stalled"].spec.scrape
    assert build is not None
    scrape = build(parameters, {**DEFAULT_FLAGS, "scrape-interval-seconds": "60"})
    assert scrape is not None
    recorder = scrape.keep
    history = ScrapeHistory(ContainerRun("uid-1", 0))
    for at, page in hung(begin=60, end=400, every=60):
        when = NOON + timedelta(seconds=at)
        history = recorder(history, ScrapedMetrics(when, PageSamples.from_samples(page)))
    assert history.engines is not None
    assert len(history.engines.by_engine["0"].times) >= parameters.min_pages
