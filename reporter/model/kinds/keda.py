"""
Partial objects of KEDA, and of the autoscaler that it makes.
"""

from reporter.model.kinds.objects import AnnotatedMetadata, ApiObject, ApiStruct, Condition


class ScaleTarget(ApiStruct, frozen=True):
    kind: str | None = ""
    name: str = ""


class ScalingSpec(ApiStruct, frozen=True):
    scale_target_ref: ScaleTarget | None = None

    @property
    def inference_set(self) -> str:
        """
        The name of the one that is scaled; empty if it is something else.
        """
        target = self.scale_target_ref
        return target.name if target is not None and target.kind == "InferenceSet" else ""


class ScaledObjectStatus(ApiStruct, frozen=True):
    """
    Its conditions tell neither time nor generation.
    """

    hpa_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ScaledObject(ApiObject, frozen=True):
    """
    Its annotations pause it.
    """

    metadata: AnnotatedMetadata
    spec: ScalingSpec = ScalingSpec()
    status: ScaledObjectStatus = ScaledObjectStatus()


class HorizontalPodAutoscalerStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class HorizontalPodAutoscaler(ApiObject, frozen=True):
    spec: ScalingSpec = ScalingSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()
