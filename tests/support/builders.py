"""
Builders of small values for tests: catalogue entries, troubles, Deployments, pods and a store.
"""

from datetime import UTC, datetime, timedelta

from reporter.model.entries import Catalogue, CatalogueEntry, HoldDurations, Scope, Suppression
from reporter.model.enums import EventType, Layer, Owner, Reason, TroubleKind
from reporter.model.kinds import DEFAULT_KINDS
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import Metadata, OwnerReference
from reporter.model.kinds.core.deployments import Deployment, DeploymentSpec, DeploymentStatus
from reporter.model.kinds.core.namespaces import Namespace
from reporter.model.kinds.core.pods import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from reporter.model.observations import Watching
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.model.verdicts import Active, Cause, InvolvedObject, ObjectRef, Trouble
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.store import Store


NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
LONG_AGO = NOON - 24 * HOUR


def an_entry(reason: str, rank: int | None = 10, **changes) -> CatalogueEntry:
    defaults = {
        "layer": Layer.CLUSTER,
        "type": EventType.WARNING,
        "owner": Owner.PLATFORM,
        "message_template": "{object} {state}.",
        "remedies": {"default": "look at it."},
        "probe": "none",
        "holds": HoldDurations(),
    }
    return CatalogueEntry(Reason(reason), rank=rank, **{**defaults, **changes})


def a_ready_entry(layer: Layer = Layer.CLUSTER) -> CatalogueEntry:
    message = "All is well again."
    name = {
        Layer.CLUSTER: "clusterReady",
        Layer.MODELHARNESS: "modelharnessReady",
        Layer.MODELDEPLOYMENT: "inferencesetReady",
    }[layer]
    return an_entry(
        name, None, layer=layer, type=EventType.NORMAL, message_template=message, probe=""
    )


def a_catalogue(*entries: CatalogueEntry, rows: tuple[Suppression, ...] = ()) -> Catalogue:
    every = (*entries, *(a_ready_entry(layer) for layer in Layer))
    return Catalogue({e.reason: e for e in every}, rows)


def a_suppression(source: str, target: str, scope: Scope = Scope.CLUSTER) -> Suppression:
    return Suppression(Reason(source), Reason(target), scope, "it has no input")


def a_key(reason: str, subject=CLUSTER_SUBJECT, item: str = "") -> FindingKey:
    return FindingKey(subject, Reason(reason), item)


def a_trouble(name: str = "thing", kind: TroubleKind = TroubleKind.DECLARED, **changes) -> Trouble:
    code = changes.pop("code", "Broken")
    defaults = {
        "object_created_at": LONG_AGO,
        "message_fields": {"object": f"Thing {name}", "state": "is broken", "pods": ""},
    }
    ref = ObjectRef("things", "system", name)
    return Trouble(Cause(ref, code), kind, **{**defaults, **changes})


INVOLVED = InvolvedObject("v1", "Namespace", "system", "uid-1")


def an_active_verdict(key: FindingKey, *troubles: Trouble) -> Active:
    return Active(key, troubles or (a_trouble(),), INVOLVED)


def a_namespace(name: str) -> Namespace:
    return Namespace(metadata=Metadata(name=name, uid=f"uid-{name}"))


def a_deployment(
    name: str = "body-based-router",
    namespace: str = "kaito-system",
    *,
    replicas: int = 2,
    ready: int | None = None,
    **changes,
) -> Deployment:
    """
    Build a Deployment, healthy by default.

    *conditions* as (type, status, reason[, message]) tuples. Further keywords: generation, observed
    (generation), created_at, deleted, labels, paused, total, updated and available (replicas).
    """
    ready_replicas = replicas if ready is None else ready
    conditions = changes.get("conditions", [("Progressing", "True", "NewReplicaSetAvailable")])
    return Deployment(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=f"uid-{name}",
            generation=changes.get("generation", 1),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels=changes.get("labels"),
        ),
        spec=DeploymentSpec(replicas=replicas, paused=changes.get("paused", False)),
        status=DeploymentStatus(
            observed_generation=changes.get("observed", 1),
            replicas=changes.get("total", replicas),
            updated_replicas=changes.get("updated", replicas),
            ready_replicas=ready_replicas,
            available_replicas=changes.get("available", ready_replicas),
            conditions=tuple(a_condition(*each) for each in conditions),
        ),
    )


def an_observed_condition(
    kind, status="True", reason=None, message="", since=LONG_AGO, observed=1
) -> Condition:
    """
    Build a condition; *observed* is its observedGeneration.
    """
    return Condition(
        type=kind,
        status=status,
        reason=kind if reason is None else reason,
        message=message,
        last_transition_time=since,
        observed_generation=observed,
    )


def a_condition(kind: str, status: str, reason: str = "", message: str = "", since=None):
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=since
    )


def a_pod(
    name: str = "body-based-router-6c9f-x2",
    namespace: str = "kaito-system",
    *,
    workload: str = "body-based-router",
    ready: bool = True,
    **changes,
) -> Pod:
    """
    Build a pod of a Deployment, Ready by default.

    Container: *waiting* (reason) with *message*, *running* (since), *exit_code* with *ended* (reason),
    *last_exit* with *last* (reason) and *last_running* (since) of the run before, *restarts*, *container* (its name),
    *container_ready*. *sidecars*: by name whether each is ready, or why it waits. Pod: *phase*, *reason*, *failure*
    (message), *why* and *details* (reason and message of Ready), *started*, *since* (of Ready), *created_at*, *deleted*, *conditions*, *init* statuses.
    """
    state = ContainerState(
        waiting=ContainerStateWaiting(reason=changes["waiting"], message=changes.get("message"))
        if "waiting" in changes
        else None,
        running=ContainerStateRunning(started_at=changes.get("running", LONG_AGO))
        if "waiting" not in changes and "exit_code" not in changes
        else None,
        terminated=ContainerStateTerminated(
            reason=changes.get("ended", "Error"), exit_code=changes["exit_code"]
        )
        if "exit_code" in changes
        else None,
    )
    last = ContainerState(
        terminated=ContainerStateTerminated(
            reason=changes.get("last", "Error"),
            exit_code=changes["last_exit"],
            started_at=changes.get("last_running"),
        )
        if "last_exit" in changes
        else None
    )
    conditions = [
        a_condition(
            "Ready",
            "True" if ready else "False",
            changes.get("why", ""),
            changes.get("details", ""),
            since=changes.get("since", LONG_AGO),
        ),
        *(a_condition(*each) for each in changes.get("conditions", ())),
    ]
    template_hash = name.rpartition("-")[0].rpartition("-")[2]
    return Pod(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=changes.get("uid", f"uid-{name}"),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels={"pod-template-hash": template_hash, **changes.get("labels", {})},
            owner_references=(
                OwnerReference(
                    kind=changes.get("owner", "ReplicaSet"),
                    name=f"{workload}-{template_hash}",
                    controller=True,
                ),
            ),
        ),
        spec=PodSpec(node_name="node-1"),
        status=PodStatus(
            phase=changes.get("phase", "Running"),
            reason=changes.get("reason"),
            message=changes.get("failure"),
            start_time=changes.get("started", LONG_AGO),
            conditions=tuple(conditions),
            container_statuses=(
                ContainerStatus(
                    name=changes.get("container", "main"),
                    ready=changes.get("container_ready", ready),
                    restart_count=changes.get("restarts", 0),
                    state=state,
                    last_state=last,
                ),
                *_sidecars(changes.get("sidecars", {})),
            )
            if changes.get("containers", True)
            else None,
            init_container_statuses=changes.get("init", ()),
        ),
    )


def _sidecars(words) -> tuple[ContainerStatus, ...]:
    """
    Build further containers: by name whether each is ready, or the reason why it waits.
    """
    return tuple(
        ContainerStatus(
            name=name,
            ready=word is True,
            state=ContainerState(
                waiting=ContainerStateWaiting(reason=word) if isinstance(word, str) else None,
                running=None
                if isinstance(word, str)
                else ContainerStateRunning(started_at=LONG_AGO),
            ),
        )
        for name, word in words.items()
    )


def a_store(*objects, crds: tuple[str, ...] = (), scrapes: SampleStore | None = None) -> Store:
    """
    Build a store with these objects, in which all default kinds are listed and watched.
    """
    store = Store(DEFAULT_KINDS, crds, scrapes)
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    for each in objects:
        kind = next(kind for kind in DEFAULT_KINDS if isinstance(each, kind.type))
        store.upsert(kind, each)
    return store
