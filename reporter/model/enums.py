"""
The closed sets of words, and the open one: reasons.
"""

from enum import StrEnum, unique
from typing import NewType


Reason = NewType("Reason", str)
"""
A stable name from the catalogue. Public API: reasons are added, never renamed.
"""


@unique
class Layer(StrEnum):
    """
    Where a reason lives; the order is that of announcing, causes first.
    """

    CLUSTER = "cluster"
    MODELHARNESS = "modelharness"
    MODELDEPLOYMENT = "modeldeployment"

    @property
    def order(self) -> int:
        return _LAYER_ORDER[self]


_LAYER_ORDER = {layer: place for place, layer in enumerate(Layer)}


@unique
class TroubleKind(StrEnum):
    """
    The kind of a trouble: why it may still be a normal start or change, and so how long to wait.
    """

    DECLARED = "declared"  # a human's word: replicas 0, an invalid annotation
    FAILED = "failed"  # a hard error that a writer states: image, crash loop, quota
    LOST = "lost"  # it worked, nothing is being changed, now it does not
    STARTING = "starting"  # young, rolling out, scaling up, draining


@unique
class Owner(StrEnum):
    """
    Who must act.
    """

    USER = "user"
    PLATFORM = "platform"
    INFRASTRUCTURE = "infrastructure"


@unique
class EventType(StrEnum):
    """
    The two types that readers of Events know; core/v1 does not check them (API reference, Event).
    """

    WARNING = "Warning"
    NORMAL = "Normal"


@unique
class Emission(StrEnum):
    """
    Whether one finding of a subject speaks, or each.
    """

    PRIMARY = "primary"
    ALL = "all"


@unique
class DetailSource(StrEnum):
    """
    What is read beyond the default for more detail, each with rights of its own.
    """

    KEDA = "keda"
    KARPENTER = "karpenter"
    ISTIO = "istio"
