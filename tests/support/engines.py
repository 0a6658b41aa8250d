"""Build the pages of model servers, and the verdicts about a set whose pods serve them."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

import msgspec

from reporter.evaluation.registry import PROBES
from reporter.model.enums import Reason
from reporter.model.verdicts import Active, Unknown, Verdict
from reporter.scrape.samples import FailedScrape, PageSamples, Sample, ScrapedMetrics
from reporter.scrape.scrapes import Scrape
from reporter.snapshot.loading import is_serving
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from tests.support.builders import NOON
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    DEFAULT_FLAGS,
    SUBJECTS,
    a_probe_request,
)
from tests.support.model_builders import SUBJECT, a_model_pod, a_model_store, a_set, a_team


HISTORY = "engines:5000"
SERIES = {
    "running": "vllm:num_requests_running",
    "waiting": "vllm:num_requests_waiting",
    "kv": "vllm:kv_cache_usage_perc",
    "steps": "vllm:iteration_tokens_total_count",
    "tokens": "vllm:generation_tokens_total",
    "finished": "vllm:request_success_total",
    "preemptions": "vllm:num_preemptions_total",
    "corrupted": "vllm:corrupted_requests_total",
    "http": "http_requests_total",
}


def a_sample(name: str, value: float, **labels: str) -> Sample:
    return Sample(SERIES.get(name, name), labels, value)


def a_page(*samples: Sample, engine: str = "0", **values: float) -> tuple[Sample, ...]:
    """Return the samples of a page: those given, and *values* of one engine by name in SERIES."""
    return (*samples, *(a_sample(name, each, engine=engine) for name, each in values.items()))


def begins(verdict: Verdict) -> bool:
    """Return whether trouble begins, and not only goes on; for a verdict that is known."""
    assert not isinstance(verdict, Unknown), verdict
    return isinstance(verdict, Active) and any(each.begins for each in verdict.troubles)


def scrape_of(reason: str, **changes: float) -> Scrape:
    parameters = parameters_of(reason, **changes)
    build = PROBES[DEFAULT_CATALOGUE[Reason(reason)].probe].spec.scrape
    assert build is not None
    scrape = build(parameters, DEFAULT_FLAGS)
    assert scrape is not None
    return scrape


def parameters_of(reason: str, **changes: float):
    return msgspec.structs.replace(DEFAULT_CATALOGUE[Reason(reason)].parameters, **changes)


def verdict_of_pages(
    reason: str,
    pages: Mapping[str, Iterable[tuple[float, tuple[Sample, ...] | str]]],
    **changes: float,
):
    """Return the verdict of a reason about pods with these pages, see `store_of_pages`."""
    store = store_of_pages(reason, pages, **changes)
    request = msgspec.structs.replace(
        a_probe_request(reason), subject=SUBJECT, parameters=parameters_of(reason, **changes)
    )
    probe = PROBES[DEFAULT_CATALOGUE[Reason(reason)].probe]
    (verdict,) = probe.evaluate(store.snapshot(), request)
    return verdict


def store_of_pages(
    reason: str,
    pages: Mapping[str, Iterable[tuple[float, tuple[Sample, ...] | str]]],
    **changes: float,
) -> Store:
    """
    Return a store with a set of pods with these pages, by name of the pod.

    *pages*: seconds after noon, and the samples, or why there are none. *changes*: of parameters.
    """
    pods = [a_model_pod(0, name.removesuffix("-0")) for name in pages]
    assert all(map(is_serving, pods))
    store = _store(reason, pods, **changes)
    for pod, read in zip(pods, pages.values(), strict=True):
        for at, page in read:
            when = NOON + timedelta(seconds=at)
            if isinstance(page, str):
                store.record_scrape_failure(pod, HISTORY, FailedScrape(when, page))
            else:
                samples = PageSamples.from_samples(page)
                store.record_scrape(pod, HISTORY, ScrapedMetrics(when, samples))
    return store


def _store(reason: str, pods: list, **changes: float) -> Store:
    kinds = a_model_store().kinds
    store = Store(
        kinds, (), SampleStore({HISTORY: scrape_of(reason, **changes)}), subjects=SUBJECTS
    )
    filled = a_model_store(a_team(), a_set(len(pods)), *pods).snapshot()
    for kind in kinds:
        store.set_watch_state(kind, filled.tables[kind.resource].watch_state)
        for each in filled.all(kind):
            store.upsert(kind, each)
    return store
