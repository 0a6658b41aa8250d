"""Build the objects of a model from the short notation of a story."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from reporter.kinds.core import Pod
from reporter.kinds.kaito import Workspace, WorkspaceStatus
from reporter.kinds.objects import AnnotatedMetadata, Condition, Metadata, OwnerReference
from reporter.stories.built_objects import build_observed_condition, build_pod
from reporter.stories.format import LONG_AGO, StoryError


# --------------------------------------------------------------------
# Workspaces and model pods of a story, built from its short notation.


# --------------------------------------------------------------------
# Build the Workspaces of an InferenceSet and their pods.


M = TypeVar("M", bound=Metadata)
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
    given = {
        "namespace": changes["namespace"],
        "uid": f"uid-{name}",
        "generation": changes.get("generation", 1),
        "creation_timestamp": changes.get("created_at", LONG_AGO),
        "deletion_timestamp": changes.get("deleted"),
        "labels": changes.get("labels"),
    }
    if type_ is AnnotatedMetadata:
        given["annotations"] = changes.get("annotations")
    return type_(name=name, **given)


def build_workspace(
    name: str,
    changed_conditions: Mapping[str, tuple[Any, ...] | None] | None = None,
    **changes: Any,
) -> Workspace:
    """
    Build a Workspace, serving by default.

    *changed_conditions*: (status, reason[, message]) by type, None for an absent condition.
    *since*, *observed*: transition time and generation of all of them. *bare*: start without any.
    *conditions*: the conditions as they are, instead.
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
        metadata=build_metadata(name, AnnotatedMetadata, **{**changes, "labels": labels}),
        status=WorkspaceStatus(
            state=changes.get("state", ""),
            target_node_count=changes.get("nodes", 1),
            conditions=changes.get("conditions", conditions),
        ),
    )


def build_model_pod(index: int, workspace: str, *, namespace: str, **changes: Any) -> Pod:
    """
    Build a pod of a Workspace's StatefulSet, Ready by default.

    *node*: the node it runs on. *host_network*: it shares that node's address. *revision*: the revision of its template. Others as of `build_pod`.
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
    owner = OwnerReference(
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
    before: Iterable[Condition],
    *,
    now: datetime,
    **meta: Any,
) -> Workspace:
    """
    Build a Workspace from conditions as ``Reason: message``, which is False.

    A condition that is not given is ``ready``, which may have a message too; one that is ``none`` is absent.
    *before*: the conditions so far. lastTransitionTime changes only with the status.
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
    words: Mapping[str, Any], before: Iterable[Condition], *, now: datetime
) -> Iterator[Condition]:
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


def story_model_pod(name: str, words: Mapping[str, Any], **changes: Any) -> Pod:
    """Build the pod ``<workspace>-<index>`` of a StatefulSet. *model*: its InferenceSet."""
    of, _, index = name.rpartition("-")
    if not index.isdecimal():
        raise StoryError("a pod with `model` is named <workspace>-<index>")
    given = {key: word for key, word in words.items() if key != "model"}
    return build_model_pod(int(index), of, **{**changes, **given, "of": words["model"]})
