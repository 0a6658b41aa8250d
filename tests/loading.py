"""
Pods that load a model, and a store in which their pages are read. No behaviour.
"""

from datetime import timedelta

from reporter.model.kaito_objects import InferenceSet, InferenceSetSpec
from reporter.model.kinds import INFERENCE_SETS, KINDS, NAMESPACES, PODS
from reporter.model.objects import (
    Annotated,
    ContainerState,
    ContainerStatus,
    Metadata,
    Namespace,
    Pod,
    PodSpec,
    PodStatus,
    Running,
    Waiting,
)
from reporter.model.observations import Watched
from reporter.model.samples import Unread, Window
from reporter.stages.scrapes import Scrapes
from reporter.stages.store import Store
from reporter.stages.subjects import CREATED_BY, HARNESS_LABEL
from reporter.stages.windows import judge
from tests.builders import LONG_AGO, NOON, SECOND, a_condition
from tests.windows import RULES, a_scrape


TEAM, MODEL = "team-a", "qwen"


def a_loading_pod(name: str = "qwen-7rk2p-0", **changes) -> Pod:
    """
    Its container runs since half a minute before noon and is not Ready.
    """
    labels = {CREATED_BY: changes.get("model", MODEL), "apps.kubernetes.io/pod-index": "0"}
    waiting = Waiting(reason="CrashLoopBackOff") if changes.get("waiting") else None
    running = None if waiting else Running(started_at=changes.get("started", NOON - 30 * SECOND))
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
    meta = Annotated(name=name, namespace=namespace, uid=f"uid-{name}")
    return InferenceSet(metadata=meta, spec=InferenceSetSpec(replicas=replicas))


def a_loading_store(*objects) -> Store:
    """
    With one team, one model and these objects; it is judged as with the flags' defaults.
    """
    store = Store(KINDS, scrapes=Scrapes(RULES.span, _gist))
    for kind in KINDS:
        store.sight(kind, Watched())
    kinds = {"Pod": PODS, "Namespace": NAMESPACES, "InferenceSet": INFERENCE_SETS}
    for each in (a_team(), a_model(), *objects):
        store.put(kinds[type(each).__name__], each)
    store.take_dirty()
    return store


def _gist(window: Window) -> tuple[bool, str]:
    return (window.unread is not None, judge(window, RULES).pace)


def says(store: Store, pod: Pod, *speeds: float, begin: float = 0, every: float = 15) -> None:
    """
    Pages of a pod, one after another, *speeds* in MB/s.
    """
    for number, speed in enumerate(speeds):
        store.sampled(pod, a_scrape(begin + number * every, speed))


def is_silent(store: Store, pod: Pod, at: float = 0, why: str = "nothing listens") -> None:
    store.unread(pod, Unread(NOON + timedelta(seconds=at), why))
