"""Build pods."""

from collections.abc import Mapping
from typing import Any

from reporter.model.kinds.base.objects import Metadata, OwnerReference
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
from reporter.stories.notation.times import LONG_AGO
from reporter.stories.objects.conditions import build_condition


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
