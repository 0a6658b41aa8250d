"""
ScaledObjects of KEDA.
"""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.base.objects import AnnotatedMetadata, ApiObject
from reporter.model.kinds.base.ownership import model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.keda.scaling_target import ScalingSpec
from reporter.model.subjects import Subject


class ScaledObjectStatus(ApiStruct, frozen=True):
    """
    The status; its conditions have neither a transition time nor an observed generation.
    """

    hpa_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ScaledObject(ApiObject, frozen=True):
    """
    A ScaledObject; annotations can pause it.
    """

    metadata: AnnotatedMetadata
    spec: ScalingSpec = ScalingSpec()
    status: ScaledObjectStatus = ScaledObjectStatus()


def index_keys(scaled_object: ScaledObject) -> tuple[str, ...]:
    """
    Index a ScaledObject by the InferenceSet that it scales.
    """
    name = scaled_object.spec.inference_set
    return (inference_set_key(scaled_object.metadata.namespace, name),) if name else ()


def affects(scaled_object: ScaledObject) -> tuple[Subject, ...]:
    name = scaled_object.spec.inference_set
    return (model_of(scaled_object, name),) if name else ()


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
