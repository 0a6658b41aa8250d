"""
The spec that a ScaledObject and the HorizontalPodAutoscaler that KEDA makes of it have in common.
"""

from reporter.model.kinds.base.api_struct import ApiStruct


INFERENCE_SET_KIND = "InferenceSet"


class ScaleTarget(ApiStruct, frozen=True):
    kind: str | None = ""
    name: str = ""


class ScalingSpec(ApiStruct, frozen=True):
    scale_target_ref: ScaleTarget | None = None

    @property
    def inference_set(self) -> str:
        """The name of the scaled InferenceSet, "" if the target is of another kind."""
        target = self.scale_target_ref
        return target.name if target is not None and target.kind == INFERENCE_SET_KIND else ""
