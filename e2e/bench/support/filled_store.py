"""
Fill a store with the example stack and healthy InferenceSets, without an API server.

The objects are decoded as from a list. Each pod has two metrics pages of an idle engine.
"""

import datetime as dt
import json
from collections.abc import Iterable, Iterator

import msgspec

from e2e.controlplane import Json
from e2e.support.production_stack import workload
from reporter.controller.enabled_scrapes import find_scrapes
from reporter.controller.watched_kinds import crds_to_track
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import PODS, Pod
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.observations import DiscoveryResult, Watching
from reporter.resources.inference_sets import WORKSPACE_LABEL
from reporter.scrape.samples import PageSamples, ScrapedMetrics
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from tests.support.engines import a_page


PODS_OF_A_WORKSPACE = 3
"""Pods of a Workspace; an InferenceSet has one more, that of its endpoint picker."""

PAGE_AGE = dt.timedelta(seconds=15)
IDLE_PAGE = PageSamples.from_samples(
    a_page(running=0, waiting=0, kv=0, steps=9, tokens=90, finished=3, preemptions=0)
)


def filled_store(evaluator: Evaluator, size: int) -> tuple[Store, int]:
    """Return a store with *size* InferenceSets, and the number of its objects."""
    crds = crds_to_track(evaluator.catalogue)
    scrapes = find_scrapes(evaluator.catalogue, SPECS, evaluator.flags)
    store = Store(
        DEFAULT_KINDS, crds, SampleStore(scrapes), subjects=evaluator.catalogue.subject_definitions
    )
    kinds = {kind.kind: kind for kind in DEFAULT_KINDS}
    decoders = {kind.kind: msgspec.json.Decoder(kind.type) for kind in DEFAULT_KINDS}
    objects = 0
    for manifest in _with_pods(workload.manifests(size)):
        name = manifest["kind"]
        if name in kinds:
            store.upsert(kinds[name], decoders[name].decode(json.dumps(manifest)))
            objects += 1
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    served = dict.fromkeys(crds, ("v1", "v1beta1", "v1alpha1"))
    now = dt.datetime.now(dt.UTC)
    store.record_discovery(DiscoveryResult(served), now=now)
    _record_pages(store, scrapes, now)
    return store, objects


def _record_pages(store: Store, scrapes: Iterable[str], now: dt.datetime) -> None:
    """Record two pages of each pod, of an idle engine."""
    for pod in store.snapshot().all(PODS):
        assert isinstance(pod, Pod)
        for name in scrapes:
            for age in (PAGE_AGE, dt.timedelta()):
                store.record_scrape(pod, name, ScrapedMetrics(now - age, IDLE_PAGE))


def _with_pods(manifests: Iterable[Json]) -> Iterator[Json]:
    """Add the other pods of each Workspace."""
    for manifest in manifests:
        yield manifest
        meta = manifest["metadata"]
        if manifest["kind"] == "Pod" and WORKSPACE_LABEL in meta.get("labels", {}):
            for index in range(1, PODS_OF_A_WORKSPACE):
                name = f"{meta['name'].rpartition('-')[0]}-{index}"
                yield manifest | {"metadata": meta | {"name": name, "uid": f"uid-{name}"}}
