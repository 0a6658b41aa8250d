"""Build pods that load a model, and a store with the histories of their scrapes."""

from collections.abc import Mapping
from datetime import timedelta

from reporter.controller.enabled_scrapes import find_scrapes
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import (
    NAMESPACES,
    PODS,
    ContainerState,
    ContainerStateRunning,
    ContainerStateWaiting,
    ContainerStatus,
    Namespace,
    Pod,
    PodSpec,
    PodStatus,
)
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.kaito import (
    INFERENCE_SETS,
    InferenceSet,
    InferenceSetSpec,
)
from reporter.kinds.objects import CREATED_BY_LABEL, AnnotatedMetadata, Metadata
from reporter.model.enums import Reason
from reporter.model.observations import Watching
from reporter.scrape.samples import FailedScrape
from reporter.scrape.scrapes import Scrape
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from tests.support.builders import LONG_AGO, NOON, SECOND, a_condition
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    DEFAULT_FLAGS,
    HARNESS_LABEL,
    SUBJECTS,
)
from tests.support.downloads import a_scrape_result


TEAM, MODEL = "team-a", "qwen"
REASON = Reason("inferencesetWeightDownloadSlow")
SCRAPE = find_scrapes(DEFAULT_CATALOGUE, SPECS, DEFAULT_FLAGS)[REASON]
"""The scrape of weight-download with the defaults of the flags."""


def a_loading_pod(name: str = "qwen-7rk2p-0", **changes) -> Pod:
    """A pod whose container has run since half a minute before noon and is not Ready."""
    labels = {CREATED_BY_LABEL: changes.get("model", MODEL), "apps.kubernetes.io/pod-index": "0"}
    waiting = ContainerStateWaiting(reason="CrashLoopBackOff") if changes.get("waiting") else None
    running = (
        None
        if waiting
        else ContainerStateRunning(started_at=changes.get("started", NOON - 30 * SECOND))
    )
    status = ContainerStatus(
        name="model",
        restart_count=changes.get("restarts", 0),
        state=ContainerState(running=running, waiting=waiting),
    )
    return Pod(
        metadata=Metadata(
            name=name,
            namespace=changes.get("namespace", TEAM),
            uid=changes.get("uid", f"uid-{name}"),
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
            labels={**labels, **changes.get("labels", {})},
        ),
        spec=PodSpec(host_network=changes.get("host_network", False)),
        status=PodStatus(
            phase=changes.get("phase", "Running"),
            pod_ip=changes.get("ip", "10.244.0.7"),
            conditions=(a_condition("Ready", "True" if changes.get("ready") else "False"),),
            container_statuses=(status,) if changes.get("containers", True) else None,
        ),
    )


def a_team(name: str = TEAM, **changes) -> Namespace:
    label, value = HARNESS_LABEL
    labels = {label: value} if changes.get("labelled", True) else {}
    meta = Metadata(
        name=name, uid=f"uid-{name}", labels=labels, deletion_timestamp=changes.get("deleted")
    )
    return Namespace(metadata=meta)


def a_model(name: str = MODEL, namespace: str = TEAM, *, replicas: int = 1) -> InferenceSet:
    meta = AnnotatedMetadata(name=name, namespace=namespace, uid=f"uid-{name}")
    return InferenceSet(metadata=meta, spec=InferenceSetSpec(replicas=replicas))


def a_loading_store(*objects, scrapes: Mapping[Reason, Scrape] | None = None) -> Store:
    """A store with one team, one model and these objects, and the scrapes of the default flags."""
    store = Store(
        DEFAULT_KINDS, scrapes=SampleStore(scrapes or {REASON: SCRAPE}), subjects=SUBJECTS
    )
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    kinds = {"Pod": PODS, "Namespace": NAMESPACES, "InferenceSet": INFERENCE_SETS}
    for each in (a_team(), a_model(), *objects):
        store.upsert(kinds[type(each).__name__], each)
    store.take_dirty()
    return store


def add_samples(
    store: Store, pod: Pod, *speeds: float, begin: float = 0, every: float = 15
) -> None:
    """Record scrapes of a pod, one after another, with *speeds* in MB/s."""
    for number, speed in enumerate(speeds):
        store.record_scrape(pod, REASON, a_scrape_result(begin + number * every, speed))


def add_failed_scrape(store: Store, pod: Pod, at: float = 0, why: str = "nothing listens") -> None:
    store.record_scrape_failure(pod, REASON, FailedScrape(NOON + timedelta(seconds=at), why))
