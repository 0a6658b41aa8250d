"""The closed sets of values of flags."""

from enum import StrEnum, unique


@unique
class ScrapeMode(StrEnum):
    """The way to pods: at their address, through the API server, or whichever works."""

    AUTO = "auto"
    DIRECT = "direct"
    PROXY = "proxy"


@unique
class LogFormat(StrEnum):
    """The format of log entries, one line each."""

    TEXT = "text"
    JSON = "json"


@unique
class RollUpScope(StrEnum):
    """
    The series of the status among the metrics: none, those of the cluster, or of namespaces as well.
    """

    OFF = "off"
    CLUSTER = "cluster"
    NAMESPACE = "namespace"


@unique
class StoreBackend(StrEnum):
    """The place where episodes are kept beside their Events."""

    NONE = "none"
    HEALTH_EVENTS = "healthevents"
    NVSENTINEL = "nvsentinel"


@unique
class StatusAuthorization(StrEnum):
    """
    The readers of the status: everyone who connects, or those whom the API server authorizes.
    """

    NONE = "none"
    KUBERNETES = "kubernetes"
