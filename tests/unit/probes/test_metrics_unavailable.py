"""The verdicts about Ready pods whose metrics page cannot be read."""

import msgspec
import pytest

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import Reason, TroubleKind
from reporter.model.observations import Watching
from reporter.model.verdicts import Clear, Unknown
from reporter.probes.metrics_unavailable import (
    CAUSE_CODES,
    PROBE,
    build_scrape,
)
from reporter.scrape.samples import (
    OWN_LIMITS,
    FailedScrape,
    ScrapedMetrics,
    ScrapeResult,
)
from reporter.snapshot.scrape_targets import READY
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from tests.support.builders import NOON, SECOND
from tests.support.catalogue_fixture import SUBJECTS, a_probe_request
from tests.support.model_builders import SUBJECT, a_model, a_model_pod, a_set, a_workspace
from tests.support.model_verdicts import rendered_message
from tests.support.probe_verdicts import only_trouble


REASON = Reason("inferencesetMetricsUnavailable")
REQUEST = msgspec.structs.replace(a_probe_request(REASON), subject=SUBJECT)
SCRAPE = build_scrape(REQUEST.parameters, REQUEST.flags)
POD, OTHER = a_model_pod(), a_model_pod(0, "qwen-b2")
AT = (0, 15, 45, 105)
"""The seconds of attempts that fail: after failures a page is read less often."""


def a_page_store(*pods) -> Store:
    store = Store(DEFAULT_KINDS, (), SampleStore({REASON: SCRAPE}), subjects=SUBJECTS)
    objects = a_model(a_set(2), a_workspace("qwen-b2"), POD, OTHER, *pods)
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
        for each in objects:
            if isinstance(each, kind.type):
                store.upsert(kind, each)
    return store


def read(store, at: int, pod=OTHER) -> None:
    store.record_scrape(pod, REASON, ScrapedMetrics(NOON + at * SECOND))


def fail(store, at: int, pod=POD, result=ScrapeResult.REFUSED, why="nothing listens") -> None:
    store.record_scrape_failure(pod, REASON, FailedScrape(NOON + at * SECOND, why, result))


def a_store_after(*seconds: int, others_read=True, **failure) -> Store:
    store = a_page_store()
    for at in seconds:
        if others_read:
            read(store, at)
        fail(store, at, **failure)
    return store


def verdict_of(store):
    (verdict,) = PROBE.evaluate(store.snapshot(), REQUEST)
    return verdict


def test_the_probe_reads_the_page_itself_of_ready_pods_and_nothing_of_it():
    assert (SCRAPE.families, SCRAPE.prefixes, SCRAPE.pods, SCRAPE.port) == ((), (), READY, 5000)


def test_a_page_that_fails_for_long_enough_is_trouble():
    trouble = only_trouble(verdict := verdict_of(a_store_after(*AT)))
    assert (trouble.kind, trouble.cause.code, trouble.since) == (
        TroubleKind.FAILED,
        "Refused",
        NOON,
    )
    assert trouble.cause.object.name == POD.metadata.name
    assert rendered_message(verdict) == (
        "model pod qwen-7rk2p-0 is ready, but its metrics page at port 5000 cannot be read:"
        " nothing listens."
    )


@pytest.mark.parametrize(("result", "code"), CAUSE_CODES.items())
def test_each_kind_of_failure_is_a_cause_of_its_own(result, code):
    assert only_trouble(verdict_of(a_store_after(*AT, result=result))).cause.code == code


def test_every_result_is_about_the_pod_or_about_the_reader():
    assert {*CAUSE_CODES} | OWN_LIMITS | {ScrapeResult.READ} == {*ScrapeResult}
    assert not {*CAUSE_CODES} & OWN_LIMITS


@pytest.mark.parametrize("result", sorted(OWN_LIMITS))
def test_a_limit_of_the_reader_is_unknown(result):
    verdict = verdict_of(a_store_after(*AT, 165, result=result, why="pods/proxy is forbidden"))
    assert verdict == Unknown(REQUEST.key(), "pod qwen-7rk2p-0: pods/proxy is forbidden")


TOO_FEW = {"twice": (0, 120), "for less than the window": (0, 15, 45, 89)}


@pytest.mark.parametrize("seconds", TOO_FEW.values(), ids=TOO_FEW)
def test_too_few_failures_are_neither_trouble_nor_none(seconds):
    verdict = verdict_of(a_store_after(*seconds))
    assert verdict == Unknown(REQUEST.key(), "pod qwen-7rk2p-0: nothing listens")


def test_while_no_page_is_read_it_is_unknown():
    verdict = verdict_of(a_store_after(*AT, 165, others_read=False))
    assert verdict == Unknown(
        REQUEST.key(),
        "pod qwen-7rk2p-0: nothing listens; no other page was read since the attempt before",
    )


def test_a_page_that_was_read_again_is_no_trouble():
    store = a_store_after(*AT)
    read(store, 165, POD)
    assert verdict_of(store) == Clear(REQUEST.key())


def test_a_page_that_was_not_tried_yet_is_no_trouble():
    assert verdict_of(a_page_store()) == Clear(REQUEST.key())


CHANGED = {
    "not Ready": a_model_pod(ready=False),
    "being deleted": a_model_pod(deleted=NOON),
    "restarted": a_model_pod(restarts=1),
    "replaced": a_model_pod(uid="uid-successor"),
}


@pytest.mark.parametrize("pod", CHANGED.values(), ids=CHANGED)
def test_a_pod_that_is_another_one_or_not_ready_now_has_no_past(pod):
    store = a_store_after(*AT)
    store.upsert(next(kind for kind in DEFAULT_KINDS if kind.type is type(pod)), pod)
    assert verdict_of(store) == Clear(REQUEST.key())


def test_trouble_of_one_pod_stays_while_another_one_only_begins_to_fail():
    store = a_store_after(*AT)
    fail(store, 110, OTHER)
    verdict = verdict_of(store)
    assert only_trouble(verdict).cause.object.name == POD.metadata.name
    assert verdict.why_partial == "pod qwen-b2-0: nothing listens"


def test_only_what_changes_a_verdict_causes_an_evaluation():
    store = a_page_store()
    store.take_dirty()
    dirty = []
    for at in (*AT, 165, 225):
        read(store, at)
        store.take_dirty()
        fail(store, at)
        dirty.append(bool(store.take_dirty()))
    assert dirty == [True, False, False, True, False, False]
