"""KAITO: InferenceSets, Workspaces (one replica, with its nodes and pods), and APIKeys of its gateway auth."""

from typing import ClassVar

from reporter.kinds import objects
from reporter.kinds.resource_kind import ResourceKind, silence_keys
from reporter.model.subjects import Subject


class APIKeyStatus(objects.ApiStruct, frozen=True):
    """
    The status of a key. *phase*: such as Pending or Expired, empty before the first reconciliation.
    """

    phase: str | None = ""
    conditions: tuple[objects.Condition, ...] | None = ()


class APIKey(objects.ApiObject, frozen=True):
    """A key for requests through the Gateway; the harness's own is rotated before it expires."""

    status: APIKeyStatus = APIKeyStatus()


API_KEYS = ResourceKind(
    resource="apikeys",
    group="kaito.sh",
    versions=("v1alpha1",),
    kind="APIKey",
    type=APIKey,
    index_keys=objects.namespace_keys,
    affects=objects.affects_harness,  # to whose Gateway it lets clients in
)


class InferenceSetSpec(objects.ApiStruct, frozen=True):
    """
    The spec of an InferenceSet.

    *replicas*: None is the API's default, 1. *node_count_limit*: of all its replicas together; 0
    is none.
    """

    replicas: int | None = 1
    node_count_limit: int | None = 0


class AutoUpgradeStatus(objects.ApiStruct, frozen=True):
    """
    The progress of the upgrade of replicas.

    *num_drifted_workspaces*: replicas that are not of the newest version of KAITO's base image.
    """

    num_drifted_workspaces: int | None = 0


class InferenceSetStatusFields(objects.ApiStruct, frozen=True):
    """
    The status of an InferenceSet.

    *auto_upgrade*: None where KAITO does not report versions of replicas.
    """

    ready_replicas: int = 0
    auto_upgrade: AutoUpgradeStatus | None = None
    conditions: tuple[objects.Condition, ...] | None = ()


class InferenceSet(objects.ApiObject, frozen=True):
    """A model. Its annotations hold the scaling configuration, and perhaps a silence."""

    metadata: objects.AnnotatedMetadata
    spec: InferenceSetSpec = InferenceSetSpec()
    status: InferenceSetStatusFields = InferenceSetStatusFields()

    @property
    def desired_replicas(self) -> int:
        """The replicas that the spec asks for; KAITO's default, 1, if it names no number."""
        return 1 if self.spec.replicas is None else self.spec.replicas


def inference_set_affects(inference_set: InferenceSet) -> tuple[Subject, ...]:
    """Return the model that the InferenceSet is."""
    return (objects.model_of(inference_set, inference_set.metadata.name),)


INFERENCE_SETS = ResourceKind(
    resource="inferencesets",
    group="kaito.sh",
    versions=("v1beta1", "v1alpha1"),
    kind="InferenceSet",
    type=InferenceSet,
    index_keys=silence_keys,
    affects=inference_set_affects,
    referrers=(
        (
            "jobs",
            lambda each: objects.inference_set_key(each.metadata.namespace, each.metadata.name),
        ),
    ),
    tracks_deletions=False,
)


class WorkspaceStatus(objects.InterningApiStruct, frozen=True):
    """
    The status of a Workspace.

    *state*: KAITO's own summary, such as Ready or NotReady. *target_node_count*: the nodes that it
    needs, 0 until computed. *worker_nodes*: names of those it has.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("state",)

    state: str | None = ""
    target_node_count: int = 0
    worker_nodes: tuple[str, ...] | None = ()
    conditions: tuple[objects.Condition, ...] | None = ()


class Workspace(objects.ApiObject, frozen=True):
    """A Workspace, which has no spec. Annotations mark an upgrade in place."""

    metadata: objects.AnnotatedMetadata
    status: WorkspaceStatus = WorkspaceStatus()


def workspace_affects(workspace: Workspace) -> tuple[Subject, ...]:
    """Return the model whose replica it is; all of its namespace if it names none."""
    return (objects.model_of(workspace, objects.owning_inference_set(workspace)),)


WORKSPACES = ResourceKind(
    resource="workspaces",
    group="kaito.sh",
    versions=("v1beta1", "v1alpha1"),
    kind="Workspace",
    type=Workspace,
    index_keys=objects.inference_set_keys,
    affects=workspace_affects,
    tracks_deletions=False,
)
