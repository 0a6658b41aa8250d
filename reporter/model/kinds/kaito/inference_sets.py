"""InferenceSets of KAITO."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.objects import AnnotatedMetadata, ApiObject
from reporter.model.kinds.base.ownership import model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.base.silencing import silence_keys
from reporter.model.subjects import Subject


class InferenceSetSpec(ApiStruct, frozen=True):
    """*node_count_limit*: of all its replicas together; 0 is none."""

    replicas: int | None = 1
    node_count_limit: int | None = 0


class AutoUpgradeStatus(ApiStruct, frozen=True):
    """
    *num_drifted_workspaces*: replicas that are not of the newest version of KAITO's base image.
    """

    num_drifted_workspaces: int | None = 0


class InferenceSetStatusFields(ApiStruct, frozen=True):
    """*auto_upgrade*: None where KAITO does not report versions of replicas."""

    replicas: int = 0
    ready_replicas: int = 0
    auto_upgrade: AutoUpgradeStatus | None = None
    conditions: tuple[Condition, ...] | None = ()


class InferenceSet(ApiObject, frozen=True):
    """A model. Its annotations hold the scaling configuration, and perhaps a silence."""

    metadata: AnnotatedMetadata
    spec: InferenceSetSpec = InferenceSetSpec()
    status: InferenceSetStatusFields = InferenceSetStatusFields()

    @property
    def desired_replicas(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


def affects(inference_set: InferenceSet) -> tuple[Subject, ...]:
    return (model_of(inference_set, inference_set.metadata.name),)


INFERENCE_SETS = ResourceKind(
    resource="inferencesets",
    group="kaito.sh",
    versions=("v1beta1", "v1alpha1"),
    kind="InferenceSet",
    type=InferenceSet,
    index_keys=silence_keys,
    affects=affects,
    referrers=(
        ("jobs", lambda each: inference_set_key(each.metadata.namespace, each.metadata.name)),
    ),
    tracks_deletions=False,
)
