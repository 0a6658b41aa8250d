"""Build the objects of a story from its short notation: conditions, namespaces, pods, Deployments."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from reporter.kinds.apps import Deployment, DeploymentSpec, DeploymentStatus
from reporter.kinds.core import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Namespace,
    NamespaceMetadata,
    Pod,
    PodSpec,
    PodStatus,
)
from reporter.kinds.objects import ApiObject, Condition, Metadata, OwnerReference
from reporter.stories.format import LONG_AGO, apply_merge_patch, resolve_times


# --------------------------------------------------------------------
# Build conditions.


def build_observed_condition(
    kind: str,
    status: str = "True",
    reason: str | None = None,
    message: str = "",
    since: datetime | None = LONG_AGO,
    observed: int = 1,
) -> Condition:
    """Build a condition; *observed* is its observedGeneration."""
    return Condition(
        type=kind,
        status=status,
        reason=kind if reason is None else reason,
        message=message,
        last_transition_time=since,
        observed_generation=observed,
    )


def build_condition(
    kind: str, status: str, reason: str = "", message: str = "", since: datetime | None = None
) -> Condition:
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=since
    )


# --------------------------------------------------------------------
# The contents of objects as the API shows them.


def whole_content(
    named: Mapping[str, Any], words: Mapping[str, Any], *, born: datetime, now: datetime
) -> dict[str, Any]:
    """
    Return the content of an object that is given by fields of the API. *named*: its name and namespace.
    """
    metadata = {
        **named,
        "uid": f"uid-{named['name']}",
        "generation": 1,
        "creationTimestamp": born.isoformat(),
    }
    whole: dict[str, Any] = resolve_times(
        apply_merge_patch({"metadata": metadata}, words), now=now
    )
    return whole


def as_content(built: ApiObject) -> dict[str, Any]:
    """Return the content of an object that was built: without the fields that it does not have."""
    content: dict[str, Any] = _without_nulls(msgspec.to_builtins(built))
    return content


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list | tuple) else value


# --------------------------------------------------------------------
# Build Namespaces.


def build_namespace(name: str) -> Namespace:
    return Namespace(metadata=NamespaceMetadata(name=name, uid=f"uid-{name}"))


# --------------------------------------------------------------------
# Build pods.


def build_pod(
    name: str = "body-based-router-6c9f-x2",
    namespace: str = "kaito-system",
    *,
    workload: str = "body-based-router",
    ready: bool = True,
    **changes: Any,
) -> Pod:
    """
    Build a pod of a Deployment, Ready by default.

    Container: *waiting* (reason) with *message*, *running* (since), *exit_code* with *ended* (reason),
    *last_exit* with *last* (reason) and *last_running* (since) of the run before, *restarts*, *container* (its name),
    *container_ready*. *sidecars*: by name whether each is ready, or why it waits. Pod: *phase*, *reason*, *failure*
    (message), *why* and *details* (reason and message of Ready), *started*, *since* (of Ready), *created_at*, *deleted*, *conditions*, *init* statuses.
    """
    template_hash = name.rpartition("-")[0].rpartition("-")[2]
    owner = OwnerReference(
        kind=changes.get("owner", "ReplicaSet"),
        name=f"{workload}-{template_hash}",
        controller=True,
    )
    return Pod(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=changes.get("uid", f"uid-{name}"),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels={"pod-template-hash": template_hash, **changes.get("labels", {})},
            owner_references=(owner,),
        ),
        spec=PodSpec(node_name="node-1"),
        status=_status(changes, ready=ready),
    )


def _status(changes: Mapping[str, Any], *, ready: bool) -> PodStatus:
    is_ready = build_condition(
        "Ready",
        "True" if ready else "False",
        changes.get("why", ""),
        changes.get("details", ""),
        since=changes.get("since", LONG_AGO),
    )
    sidecars = _sidecars(changes.get("sidecars", {}))
    return PodStatus(
        phase=changes.get("phase", "Running"),
        reason=changes.get("reason"),
        message=changes.get("failure"),
        start_time=changes.get("started", LONG_AGO),
        conditions=(
            is_ready,
            *(build_condition(*each) for each in changes.get("conditions", ())),
        ),
        container_statuses=(_main_container(changes, ready=ready), *sidecars)
        if changes.get("containers", True)
        else None,
        init_container_statuses=changes.get("init", ()),
    )


def _main_container(changes: Mapping[str, Any], *, ready: bool) -> ContainerStatus:
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
    return ContainerStatus(
        name=changes.get("container", "main"),
        ready=changes.get("container_ready", ready),
        restart_count=changes.get("restarts", 0),
        state=state,
        last_state=last,
    )


def _sidecars(words: Mapping[str, bool | str]) -> tuple[ContainerStatus, ...]:
    """Build further containers: by name whether each is ready, or the reason why it waits."""
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


# --------------------------------------------------------------------
# Build Deployments.


def build_deployment(
    name: str = "body-based-router",
    namespace: str = "kaito-system",
    *,
    replicas: int = 2,
    ready: int | None = None,
    **changes: Any,
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
            conditions=tuple(build_condition(*each) for each in conditions),
        ),
    )
