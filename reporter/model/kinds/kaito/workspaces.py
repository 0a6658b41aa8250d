"""Workspaces of KAITO: one replica of an InferenceSet, with its nodes and pods."""

from typing import ClassVar

from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import inference_set_keys
from reporter.model.kinds.base.objects import AnnotatedMetadata, ApiObject
from reporter.model.kinds.base.ownership import owning_model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class WorkspaceResource(InterningApiStruct, frozen=True):
    """*preferred_nodes*: nodes that the user brings; then there is no NodeClaim."""

    interned_fields: ClassVar[tuple[str, ...]] = ("instance_type",)

    instance_type: str | None = ""
    preferred_nodes: tuple[str, ...] | None = ()


class WorkspaceStatus(ApiStruct, frozen=True):
    state: str | None = ""
    target_node_count: int = 0
    worker_nodes: tuple[str, ...] | None = ()
    conditions: tuple[Condition, ...] | None = ()


class Workspace(ApiObject, frozen=True):
    """
    A Workspace has ``resource`` at the top level and no spec. Annotations mark an upgrade in place.
    """

    metadata: AnnotatedMetadata
    resource: WorkspaceResource = WorkspaceResource()
    status: WorkspaceStatus = WorkspaceStatus()


def affects(workspace: Workspace) -> tuple[Subject, ...]:
    return (owning_model_of(workspace),)


WORKSPACES = ResourceKind(
    resource="workspaces",
    group="kaito.sh",
    versions=("v1beta1", "v1alpha1"),
    kind="Workspace",
    type=Workspace,
    index_keys=inference_set_keys,
    affects=affects,
    tracks_deletions=False,
)
