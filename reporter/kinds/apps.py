"""Deployments."""

from reporter.kinds import objects
from reporter.kinds.objects import ApiObject, ApiStruct, Condition
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


COMPONENT_LABELS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/component")
"""
The labels by which charts name a component; a Deployment is looked up by these in any namespace.
"""


class DeploymentSpec(ApiStruct, frozen=True):
    """
    The spec of a Deployment.

    *replicas*: None is the API's default, 1. *paused*: the deadline of a rollout does not run
    meanwhile.
    """

    replicas: int | None = 1
    paused: bool = False


class DeploymentStatus(ApiStruct, frozen=True):
    """
    The counts of pods that the controller reports; *updated_replicas* are of the newest template.
    """

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    conditions: tuple[Condition, ...] | None = ()

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of this type, such as Progressing; None if it is not reported."""
        return objects.find_condition(self.conditions, kind)


class Deployment(ApiObject, frozen=True):
    """A Deployment of apps/v1: of the control plane, a Gateway, or an endpoint picker."""

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()

    @property
    def desired_replicas(self) -> int:
        """The replicas of the spec; the API's default is 1."""
        return 1 if self.spec.replicas is None else self.spec.replicas


def deployment_keys(deployment: Deployment) -> tuple[str, ...]:
    """Index a Deployment by its name, component labels, Gateway and InferenceSet."""
    meta, labels = deployment.metadata, deployment.metadata.labels or {}
    gateway = labels.get(objects.GATEWAY_NAME_LABEL)
    return (
        objects.name_key(meta.name),
        *(objects.label_key(key, labels[key]) for key in COMPONENT_LABELS if key in labels),
        *((objects.gateway_key(meta.namespace, gateway),) if gateway else ()),
        *objects.inference_set_keys(deployment),
    )


def deployment_affects(deployment: Deployment) -> tuple[Subject, ...]:
    """
    Return the cluster or a Gateway's harness, or the models that may have it as endpoint picker.
    """
    if objects.owning_inference_set(deployment):
        return objects.possible_models_of(deployment, objects.ENDPOINT_PICKER_SUFFIX)
    return (objects.workload_subject(deployment),)


def affects_by_identity(deployment: Deployment) -> tuple[Subject, ...]:
    """
    Return every harness for a Deployment of the control plane, none for another.

    Filters and policies of a harness refer to components of the control plane.
    """
    return (
        (objects.ALL_HARNESSES,) if objects.workload_subject(deployment) is CLUSTER_SUBJECT else ()
    )


DEPLOYMENTS = ResourceKind(
    resource="deployments",
    group="apps",
    versions=("v1",),
    kind="Deployment",
    type=Deployment,
    index_keys=deployment_keys,
    affects=deployment_affects,
    affects_by_identity=affects_by_identity,
    referrers=(("inferencepools", objects.own_picker_key),),
)
