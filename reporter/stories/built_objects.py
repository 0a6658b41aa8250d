"""Build the objects of a story from its short notation: conditions, namespaces, pods, Deployments."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from reporter.kinds import core, objects
from reporter.kinds.apps import Deployment, DeploymentSpec, DeploymentStatus
from reporter.kinds.kaito import Workspace, WorkspaceStatus
from reporter.stories.format import LONG_AGO, StoryError, apply_merge_patch, resolve_times


# --------------------------------------------------------------------
# Build conditions.


def build_observed_condition(
    kind: str,
    status: str = "True",
    reason: str | None = None,
    message: str = "",
    since: datetime | None = LONG_AGO,
    observed: int = 1,
) -> objects.Condition:
    """
    Build a condition of the type *kind* with an observedGeneration, *observed*.

    *reason*: None for that of the same name as the type. *since*: its lastTransitionTime.
    """
    return objects.Condition(
        type=kind,
        status=status,
        reason=kind if reason is None else reason,
        message=message,
        last_transition_time=since,
        observed_generation=observed,
    )


def build_condition(
    kind: str, status: str, reason: str = "", message: str = "", since: datetime | None = None
) -> objects.Condition:
    """Build a condition of an object, without an observedGeneration; *kind* is its type."""
    return objects.Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=since
    )


# --------------------------------------------------------------------
# The contents of objects as the API shows them.


def whole_content(
    named: Mapping[str, Any], words: Mapping[str, Any], *, born: datetime, now: datetime
) -> dict[str, Any]:
    """
    Return the content of an object that a story gives by fields of the API.

    *named*: its name and namespace. *words*: the fields; the texts ``now`` and ``5m ago`` in them become
    times by *now*. *born*: when it was created.
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


UNREAD_FIELDS: Mapping[type[objects.ApiObject], Mapping[str, Any]] = {
    core.Namespace: {"status": {"phase": "Active"}},
    Workspace: {"resource": {"instanceType": "", "preferredNodes": []}},
}
"""Fields that every such object has, and that no reason of the program reads."""


def as_content(built: objects.ApiObject) -> dict[str, Any]:
    """Return the content of an object that was built: without fields of None, and with UNREAD_FIELDS."""
    encoded = msgspec.to_builtins(built, enc_hook=objects.plain_labels)
    content: dict[str, Any] = _without_nulls(encoded)
    return {**UNREAD_FIELDS.get(type(built), {}), **content}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list | tuple) else value


# --------------------------------------------------------------------
# Build Namespaces.


def build_namespace(name: str) -> core.Namespace:
    """Build a namespace without labels; its uid follows from its name."""
    return core.Namespace(metadata=core.NamespaceMetadata(name=name, uid=f"uid-{name}"))


# --------------------------------------------------------------------
# Build pods.


def build_pod(
    name: str = "body-based-router-6c9f-x2",
    namespace: str = "kaito-system",
    *,
    workload: str = "body-based-router",
    ready: bool = True,
    **changes: Any,
) -> core.Pod:
    """
    Build a pod of a Deployment, Ready by default.

    Container: *waiting* (reason) with *message*, *running* (since), *exit_code* with *ended* (reason),
    *last_exit* with *last* (reason) and *last_running* (since) of the run before, *restarts*, *container*
    (its name), *container_ready*. *sidecars*: by name whether each is ready, or why it waits. Pod: *phase*,
    *reason*, *failure* (message), *why* and *details* (reason and message of Ready), *started*, *since* (of
    Ready), *created_at*, *deleted*, *conditions*, *init* statuses.
    """
    template_hash = name.rpartition("-")[0].rpartition("-")[2]
    owner = objects.OwnerReference(
        kind=changes.get("owner", "ReplicaSet"),
        name=f"{workload}-{template_hash}",
        controller=True,
    )
    return core.Pod(
        metadata=objects.Metadata(
            name=name,
            namespace=namespace,
            uid=changes.get("uid", f"uid-{name}"),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels={"pod-template-hash": template_hash, **changes.get("labels", {})},
            owner_references=(owner,),
        ),
        spec=core.PodSpec(node_name="node-1"),
        status=_status(changes, ready=ready),
    )


def _status(changes: Mapping[str, Any], *, ready: bool) -> core.PodStatus:
    is_ready = build_condition(
        "Ready",
        "True" if ready else "False",
        changes.get("why", ""),
        changes.get("details", ""),
        since=changes.get("since", LONG_AGO),
    )
    sidecars = _sidecars(changes.get("sidecars", {}))
    return core.PodStatus(
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


def _main_container(changes: Mapping[str, Any], *, ready: bool) -> core.ContainerStatus:
    state = core.ContainerState(
        waiting=core.ContainerStateWaiting(
            reason=changes["waiting"], message=changes.get("message")
        )
        if "waiting" in changes
        else None,
        running=core.ContainerStateRunning(started_at=changes.get("running", LONG_AGO))
        if "waiting" not in changes and "exit_code" not in changes
        else None,
        terminated=core.ContainerStateTerminated(
            reason=changes.get("ended", "Error"), exit_code=changes["exit_code"]
        )
        if "exit_code" in changes
        else None,
    )
    last = core.ContainerState(
        terminated=core.ContainerStateTerminated(
            reason=changes.get("last", "Error"),
            exit_code=changes["last_exit"],
            started_at=changes.get("last_running"),
        )
        if "last_exit" in changes
        else None
    )
    return core.ContainerStatus(
        name=changes.get("container", "main"),
        ready=changes.get("container_ready", ready),
        restart_count=changes.get("restarts", 0),
        state=state,
        last_state=last,
    )


def _sidecars(words: Mapping[str, bool | str]) -> tuple[core.ContainerStatus, ...]:
    """Build further containers: by name whether each is ready, or the reason why it waits."""
    return tuple(
        core.ContainerStatus(
            name=name,
            ready=word is True,
            state=core.ContainerState(
                waiting=core.ContainerStateWaiting(reason=word) if isinstance(word, str) else None,
                running=None
                if isinstance(word, str)
                else core.ContainerStateRunning(started_at=LONG_AGO),
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
        metadata=objects.Metadata(
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


# --------------------------------------------------------------------
# Build the Workspaces of an InferenceSet and their pods.


M = TypeVar("M", bound=objects.Metadata)
NODE = "aks-ws1-0"
CREATED_BY = "inferenceset.kaito.sh/created-by"
INDEX = "apps.kubernetes.io/pod-index"
SERVING_CONDITIONS = {
    "NodeClaimReady": ("True", "NodeClaimsReady"),
    "NodesReady": ("True", "NodesReady"),
    "ResourceReady": ("True", "workspaceResourceStatusSuccess"),
    "InferenceReady": ("True", "WorkspaceInferenceStatusSuccess"),
}
"""The conditions of a Workspace that serves."""


def build_metadata(name: str, type_: type[M], **changes: Any) -> M:
    """
    Build metadata of a type, whose *changes* are a namespace and, if wanted, the rest of it.

    An object is as old as LONG_AGO and of generation 1, unless *changes* say otherwise. Its uid follows
    from its name.
    """
    given = {
        "namespace": changes["namespace"],
        "uid": f"uid-{name}",
        "generation": changes.get("generation", 1),
        "creation_timestamp": changes.get("created_at", LONG_AGO),
        "deletion_timestamp": changes.get("deleted"),
        "labels": changes.get("labels"),
    }
    if type_ is objects.AnnotatedMetadata:
        given["annotations"] = changes.get("annotations")
    return type_(name=name, **given)


def build_workspace(
    name: str,
    changed_conditions: Mapping[str, tuple[Any, ...] | None] | None = None,
    **changes: Any,
) -> Workspace:
    """
    Build a Workspace, serving by default. Required: *namespace*, and *of*, the name of its InferenceSet.

    *changed_conditions*: (status, reason[, message]) by type, None for an absent condition.
    *since*, *observed*: transition time and generation of all of them. *bare*: there is none, if
    *changed_conditions* is None. *conditions*: the conditions as they are, instead.
    """
    both = (
        {**SERVING_CONDITIONS, **(changed_conditions or {})}
        if changed_conditions is not None or "bare" not in changes
        else {}
    )
    since, observed = changes.get("since", LONG_AGO), changes.get("observed", 1)
    conditions = tuple(
        build_observed_condition(kind, *words, since=since, observed=observed)  # type: ignore[misc]
        for kind, words in both.items()
        if words is not None
    )
    labels = {CREATED_BY: changes["of"], **changes.get("labels", {})}
    return Workspace(
        metadata=build_metadata(name, objects.AnnotatedMetadata, **{**changes, "labels": labels}),
        status=WorkspaceStatus(
            state=changes.get("state", ""),
            target_node_count=changes.get("nodes", 1),
            conditions=changes.get("conditions", conditions),
        ),
    )


def build_model_pod(index: int, workspace: str, *, namespace: str, **changes: Any) -> core.Pod:
    """
    Build a pod of a Workspace's StatefulSet, Ready by default.

    *of*: the name of its InferenceSet. *node*: the node it runs on. *host_network*: it shares that node's
    address. *revision*: the revision of its template. Others as of `build_pod`.
    """
    given = {"container": workspace, **changes, "labels": {}}
    pod = build_pod(f"{workspace}-{index}", namespace, **given)
    labels = {
        "kaito.sh/workspace": workspace,
        CREATED_BY: changes["of"],
        INDEX: str(index),
        "controller-revision-hash": changes.get("revision", "1"),
        **changes.get("labels", {}),
    }
    owner = objects.OwnerReference(
        kind=changes.get("owner", "StatefulSet"), name=workspace, controller=True
    )
    labels = {key: value for key, value in labels.items() if value is not None}
    meta = msgspec.structs.replace(pod.metadata, labels=labels, owner_references=(owner,))
    spec = msgspec.structs.replace(
        pod.spec,
        node_name=changes.get("node", NODE),
        host_network=changes.get("host_network", False),
    )
    return msgspec.structs.replace(pod, metadata=meta, spec=spec)


CONDITIONS = {
    "claims": "NodeClaimReady",
    "nodes": "NodesReady",
    "resources": "ResourceReady",
    "inference": "InferenceReady",
}


def story_workspace(
    name: str,
    words: Mapping[str, Any],
    before: Iterable[objects.Condition],
    *,
    now: datetime,
    **meta: Any,
) -> Workspace:
    """
    Build a Workspace from the words of a story, in which ``Reason: message`` is a condition that is False.

    A condition that is not given is ``ready``, which may have a message too; one that is ``none`` is absent.
    *before*: the conditions so far. lastTransitionTime changes only with the status. Raises StoryError if
    the words name no InferenceSet.
    """
    if "of" not in words:
        raise StoryError("a Workspace names its InferenceSet: `of: NAME`")
    upgrade = words.get("upgrade")
    return build_workspace(
        name,
        of=words["of"],
        conditions=() if words.get("silent") else tuple(_conditions(words, before, now=now)),
        nodes=words.get("pods", 1),
        state=words.get("state", ""),
        deleted=now if words.get("deleting") else None,
        labels={"kaito.sh/upgrade-to-version": "0.2.0"} if upgrade else {},
        annotations={"kaito.sh/upgrade-start-time": upgrade} if upgrade else None,
        **meta,
    )


def _conditions(
    words: Mapping[str, Any], before: Iterable[objects.Condition], *, now: datetime
) -> Iterator[objects.Condition]:
    known = {each.type: each for each in before}
    for word, kind in CONDITIONS.items():
        text = words.get(word, "ready")
        if text == "none":
            continue
        reason, _, message = text.partition(": ")
        status, reason = SERVING_CONDITIONS[kind] if reason == "ready" else ("False", reason)
        old = known.get(kind)
        since = old.last_transition_time if old is not None and old.status == status else now
        yield build_observed_condition(kind, status, reason, message, since)


def story_model_pod(name: str, words: Mapping[str, Any], **changes: Any) -> core.Pod:
    """
    Build the pod ``<workspace>-<index>`` of a StatefulSet. Raises StoryError for another name.

    *words*: those of a story; *model* in them is its InferenceSet, and the others are as of `build_pod`.
    """
    of, _, index = name.rpartition("-")
    if not index.isdecimal():
        raise StoryError("a pod with `model` is named <workspace>-<index>")
    given = {key: word for key, word in words.items() if key != "model"}
    return build_model_pod(int(index), of, **{**changes, **given, "of": words["model"]})
