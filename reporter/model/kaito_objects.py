"""
Partial objects of KAITO and of the gateway auth that comes with it.
"""

from typing import ClassVar

from reporter.model.objects import Annotated, ApiObject, Condition, Part


class InferenceSetSpec(Part, frozen=True):
    """
    *node_count_limit*: of all its replicas together; 0 is none.
    """

    replicas: int | None = 1
    node_count_limit: int | None = 0


class InferenceSetStatus(Part, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    conditions: tuple[Condition, ...] | None = ()


class InferenceSet(ApiObject, frozen=True):
    """
    Its annotations hold the scaling configuration.
    """

    metadata: Annotated
    spec: InferenceSetSpec = InferenceSetSpec()
    status: InferenceSetStatus = InferenceSetStatus()

    @property
    def desired(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


class WorkspaceResource(Part, frozen=True):
    """
    *preferred_nodes*: bring your own; then there is no NodeClaim.
    """

    common: ClassVar[tuple[str, ...]] = ("instance_type",)

    instance_type: str | None = ""
    preferred_nodes: tuple[str, ...] | None = ()


class WorkspaceStatus(Part, frozen=True):
    state: str | None = ""
    target_node_count: int = 0
    worker_nodes: tuple[str, ...] | None = ()
    conditions: tuple[Condition, ...] | None = ()


class Workspace(ApiObject, frozen=True):
    """
    ``resource`` is top-level, there is no spec. Annotations tell of an upgrade in place.
    """

    metadata: Annotated
    resource: WorkspaceResource = WorkspaceResource()
    status: WorkspaceStatus = WorkspaceStatus()


class SecretReference(Part, frozen=True):
    name: str = ""


class APIKeyStatus(Part, frozen=True):
    phase: str | None = ""
    conditions: tuple[Condition, ...] | None = ()
    secret_ref: SecretReference | None = None


class APIKey(ApiObject, frozen=True):
    status: APIKeyStatus = APIKeyStatus()
