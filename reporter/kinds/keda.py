"""KEDA: ScaledObjects, and the HorizontalPodAutoscalers that it makes of them."""

from reporter.kinds import objects
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import Subject


INFERENCE_SET_KIND = "InferenceSet"


class ScaleTarget(objects.ApiStruct, frozen=True):
    """
    The object whose replicas are scaled, in the namespace of the one that scales it.

    KEDA's default *kind* is Deployment.
    """

    kind: str | None = ""
    name: str = ""


class ScalingSpec(objects.ApiStruct, frozen=True):
    """The part of the spec that ScaledObjects and HorizontalPodAutoscalers share."""

    scale_target_ref: ScaleTarget | None = None

    @property
    def inference_set(self) -> str:
        """The name of the scaled InferenceSet, "" if the target is of another kind."""
        target = self.scale_target_ref
        return target.name if target is not None and target.kind == INFERENCE_SET_KIND else ""


class HorizontalPodAutoscalerSpec(ScalingSpec, frozen=True):
    """The spec of an autoscaler. *max_replicas*: the highest number it sets."""

    max_replicas: int | None = None


class HorizontalPodAutoscalerStatus(objects.ApiStruct, frozen=True):
    """
    The conditions of an autoscaler, such as ScalingActive, which is False if it gets no metrics.
    """

    conditions: tuple[objects.Condition, ...] | None = ()


class HorizontalPodAutoscaler(objects.ApiObject, frozen=True):
    """An autoscaler of Kubernetes (autoscaling/v2), found by the ScaledObject that it is of."""

    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()


def autoscaler_affects(autoscaler: HorizontalPodAutoscaler) -> tuple[Subject, ...]:
    """Return the model that it scales; none if it scales something else than an InferenceSet."""
    name = autoscaler.spec.inference_set
    return (objects.model_of(autoscaler, name),) if name else ()


HORIZONTAL_POD_AUTOSCALERS = ResourceKind(
    resource="horizontalpodautoscalers",
    group="autoscaling",
    versions=("v2",),
    kind="HorizontalPodAutoscaler",
    type=HorizontalPodAutoscaler,
    affects=autoscaler_affects,
)


class ScaledObjectSpec(ScalingSpec, frozen=True):
    """
    The spec of a ScaledObject.

    *polling_interval*: the seconds between two questions to the scaler.
    """

    polling_interval: int | None = None


class ScaledObjectStatus(objects.ApiStruct, frozen=True):
    """The status; its conditions have neither a transition time nor an observed generation."""

    hpa_name: str | None = ""
    conditions: tuple[objects.Condition, ...] | None = ()


class ScaledObject(objects.ApiObject, frozen=True):
    """A ScaledObject; annotations can pause it."""

    metadata: objects.AnnotatedMetadata
    spec: ScaledObjectSpec = ScaledObjectSpec()
    status: ScaledObjectStatus = ScaledObjectStatus()


def scaled_object_keys(scaled_object: ScaledObject) -> tuple[str, ...]:
    """Index a ScaledObject by the InferenceSet that it scales, and by the one that owns it."""
    namespace = scaled_object.metadata.namespace
    return tuple(
        [objects.inference_set_key(namespace, name) for name in _models_of(scaled_object)]
    )


def scaled_object_affects(scaled_object: ScaledObject) -> tuple[Subject, ...]:
    """Return the models that it scales or belongs to, one unless there is a mistake."""
    return tuple([objects.model_of(scaled_object, name) for name in _models_of(scaled_object)])


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
    index_keys=scaled_object_keys,
    spec_key_prefixes=(lambda namespace: objects.inference_set_key(namespace, ""),),
    affects=scaled_object_affects,
)
