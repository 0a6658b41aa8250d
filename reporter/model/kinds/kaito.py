"""
Partial objects of KAITO and of the gateway auth that comes with it.
"""

from typing import ClassVar

from reporter.model.kinds.objects import AnnotatedMetadata, ApiObject, ApiStruct, Condition


class InferenceSetSpec(ApiStruct, frozen=True):
    """
    *node_count_limit*: of all its replicas together; 0 is none.
    """

    replicas: int | None = 1
    node_count_limit: int | None = 0


class InferenceSetStatus(ApiStruct, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    conditions: tuple[Condition, ...] | None = ()


class InferenceSet(ApiObject, frozen=True):
    """
    Its annotations hold the scaling configuration.
    """

    metadata: AnnotatedMetadata
    spec: InferenceSetSpec = InferenceSetSpec()
    status: InferenceSetStatus = InferenceSetStatus()

    @property
    def desired_replicas(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


class WorkspaceResource(ApiStruct, frozen=True):
    """
    *preferred_nodes*: bring your own; then there is no NodeClaim.
    """

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
    ``resource`` is top-level, there is no spec. Annotations tell of an upgrade in place.
    """

    metadata: AnnotatedMetadata
    resource: WorkspaceResource = WorkspaceResource()
    status: WorkspaceStatus = WorkspaceStatus()


class SecretReference(ApiStruct, frozen=True):
    name: str = ""


class APIKeyStatus(ApiStruct, frozen=True):
    phase: str | None = ""
    conditions: tuple[Condition, ...] | None = ()
    secret_ref: SecretReference | None = None


class APIKey(ApiObject, frozen=True):
    status: APIKeyStatus = APIKeyStatus()
