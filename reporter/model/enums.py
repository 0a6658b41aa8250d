"""The enumerations of the vocabulary, and the open set of reasons."""

from enum import StrEnum, unique
from typing import NewType


Reason = NewType("Reason", str)
"""A stable name from the catalogue. It is public API: reasons are added, never renamed."""


@unique
class Layer(StrEnum):
    """The layer of a reason, in the order of announcing: causes before effects."""

    CLUSTER = "cluster"
    MODELHARNESS = "modelharness"
    MODELDEPLOYMENT = "modeldeployment"

    @property
    def order(self) -> int:
        """The position of the layer, 0 for the cluster; what is sorted by it has causes first."""
        return _LAYER_ORDER[self]


_LAYER_ORDER = {layer: position for position, layer in enumerate(Layer)}


@unique
class TroubleKind(StrEnum):
    """The kind of a trouble, which decides how long it may still be a normal start or change."""

    DECLARED = "declared"  # set by a user: replicas 0, an invalid annotation
    FAILED = "failed"  # a hard error that a controller reports: image, crash loop, quota
    LOST = "lost"  # it worked, nothing is being changed, now it does not
    STARTING = "starting"  # young, rolling out, scaling up, draining


@unique
class ScrapeScope(StrEnum):
    """
    The pods whose metrics pages are read: none, model pods that are not Ready, or all model pods.
    """

    OFF = "off"
    LOADING = "loading"
    ALL = "all"


@unique
class Owner(StrEnum):
    """The party that must act on a reason, by its entry in the catalogue."""

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
    """The findings of a subject that are announced: the primary one, or all."""

    PRIMARY = "primary"
    ALL = "all"


@unique
class SuppressionMode(StrEnum):
    """
    The treatment of findings that only follow from an upstream that is out: suppressed, or announced.
    """

    ON = "on"
    OFF = "off"


@unique
class DetailSource(StrEnum):
    """
    A source of more objects, read when ``--sources`` names it; each needs permissions of its own.

    Most add detail to reasons that are evaluated without them too; of Jobs, reasons are made.
    """

    KEDA = "keda"
    KARPENTER = "karpenter"
    ISTIO = "istio"
    JOBS = "jobs"


@unique
class ClosedConnection(StrEnum):
    """The reason for which the HTTP server closed a client's connection."""

    MALFORMED = "malformed"  # not an HTTP/1 request
    SLOW_REQUEST = "slow_request"  # the head of a request did not arrive in time
    SLOW_READER = "slow_reader"  # the response was not read in time
    IDLE = "idle"  # no request for a long time
    CROWDED_OUT = "crowded_out"  # too many connections; this client had most


@unique
class Engage(StrEnum):
    """The clusters that the hub answers for: those that objects list, or all that are seen."""

    LISTED = "listed"
    SEEN = "seen"
