"""Build the Workspaces of an InferenceSet and their pods."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from reporter.model.kinds.base.objects import AnnotatedMetadata, Metadata, OwnerReference
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace, WorkspaceStatus
from reporter.stories.notation.times import LONG_AGO
from reporter.stories.objects.conditions import build_observed_condition
from reporter.stories.objects.pods import build_pod


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
