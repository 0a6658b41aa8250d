"""ScaledObjects of KEDA."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.objects import AnnotatedMetadata, ApiObject
from reporter.model.kinds.base.ownership import model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.keda.scaling_target import INFERENCE_SET_KIND, ScalingSpec
from reporter.model.subjects import Subject


class ScaledObjectSpec(ScalingSpec, frozen=True):
    """*polling_interval*: the seconds between two questions to the scaler."""

    polling_interval: int | None = None


class ScaledObjectStatus(ApiStruct, frozen=True):
    """The status; its conditions have neither a transition time nor an observed generation."""

    hpa_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ScaledObject(ApiObject, frozen=True):
    """A ScaledObject; annotations can pause it."""

    metadata: AnnotatedMetadata
    spec: ScaledObjectSpec = ScaledObjectSpec()
    status: ScaledObjectStatus = ScaledObjectStatus()


def index_keys(scaled_object: ScaledObject) -> tuple[str, ...]:
    """Index a ScaledObject by the InferenceSet that it scales, and by the one that owns it."""
    namespace = scaled_object.metadata.namespace
    return tuple([inference_set_key(namespace, name) for name in _models_of(scaled_object)])


def affects(scaled_object: ScaledObject) -> tuple[Subject, ...]:
    return tuple([model_of(scaled_object, name) for name in _models_of(scaled_object)])


def _models_of(scaled_object: ScaledObject) -> list[str]:
    """
    Return the InferenceSets that it scales or belongs to, which are the same but for a mistake.
    """
    owners = scaled_object.metadata.owner_references or ()
    owned_by = {each.name for each in owners if each.kind == INFERENCE_SET_KIND}
    return sorted({*owned_by, scaled_object.spec.inference_set} - {""})


SCALED_OBJECTS = ResourceKind(
    resource="scaledobjects",
    group="keda.sh",
    versions=("v1alpha1",),
    kind="ScaledObject",
    type=ScaledObject,
    index_keys=index_keys,
    spec_key_prefixes=(lambda namespace: inference_set_key(namespace, ""),),
    affects=affects,
)
