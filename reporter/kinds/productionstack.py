"""
The status objects: users write the spec, and the program writes the status.

ProductionStackStatuses say what their users ask about, and the reporter writes the answer. People name
in ProductionStackClusters the clusters that a hub answers for, and the hub writes the answer.
"""

from enum import StrEnum, unique
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from reporter.kinds.api_names import GROUP
from reporter.kinds.objects import ApiStruct, WrittenObject, affects_nothing
from reporter.kinds.resource_kind import ResourceKind


VERSIONS = ("v1alpha1",)


class StatusObject(WrittenObject, frozen=True):
    """
    The base of objects whose spec people write, and the program the status.

    *status*: as it is in the cluster, also if an earlier or later release wrote it.
    """

    status: dict[str, Any] | None = None

    @property
    def observed_generation(self) -> int:
        """
        The generation that the status is about, -1 if none was written or another writer left no number.
        """
        found = (self.status or {}).get("observedGeneration")
        return found if isinstance(found, int) else -1


MAX_SETS = 256
MAX_NAME = 253
"""The longest name of an object (API conventions, "Names")."""


ObjectName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


@unique
class StatusScope(StrEnum):
    """The subject of an object: the namespace that it is in, or the control plane."""

    NAMESPACE = "Namespace"
    CLUSTER = "Cluster"


class PackageSpec(ApiStruct, frozen=True):
    """The package of a namespace by name and revision, which are empty if not known."""

    name: Annotated[str, Meta(max_length=MAX_NAME, description="Name of the package.")] = ""
    revision: Annotated[
        str, Meta(max_length=MAX_NAME, description="Revision of the package, such as a version.")
    ] = ""


class ProductionStackStatusSpec(ApiStruct, frozen=True):
    """The subject of the status, as its user asks for it."""

    scope: Annotated[
        StatusScope,
        Meta(
            description="Namespace: the harness and InferenceSets of the object's namespace. "
            "Cluster: the control plane; only in the namespace of the release."
        ),
    ] = StatusScope.NAMESPACE
    inference_sets: Annotated[
        tuple[ObjectName, ...],
        Meta(
            max_length=MAX_SETS,
            description="Names of the InferenceSets that the package consists of, beside the "
            "harness. None: all of the namespace.",
        ),
    ] = ()
    package: Annotated[
        PackageSpec | None,
        Meta(description="The package that the namespace is made from, for the status."),
    ] = None


class ProductionStackStatus(StatusObject, frozen=True):
    """The question of a user about a namespace or the control plane, and the answer."""

    spec: ProductionStackStatusSpec = ProductionStackStatusSpec()


PRODUCTION_STACK_STATUSES = ResourceKind(
    resource="productionstackstatuses",
    group=GROUP,
    versions=VERSIONS,
    kind="ProductionStackStatus",
    type=ProductionStackStatus,
    affects=affects_nothing,
    tracks_deletions=False,
)


MAX_LABEL = 253
MAX_UID = 63


class ProductionStackClusterSpec(ApiStruct, frozen=True):
    """The cluster that the object is about."""

    cluster_label: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_LABEL,
            description="Value of the cluster label that the cluster's series have in the metrics"
            " engine.",
        ),
    ]
    cluster_uid: Annotated[
        str,
        Meta(
            max_length=MAX_UID,
            description="UID of the namespace kube-system of the cluster. Series with another one are"
            " those of another cluster. Empty: any.",
        ),
    ] = field(default="", name="clusterUID")
    paused: Annotated[
        bool, Meta(description="The hub does not answer for the cluster: it is Unknown.")
    ] = False


class ProductionStackCluster(StatusObject, frozen=True, kw_only=True):
    """A cluster that people name to a hub, and the hub's answer about it."""

    spec: ProductionStackClusterSpec


PRODUCTION_STACK_CLUSTERS = ResourceKind(
    resource="productionstackclusters",
    group=GROUP,
    versions=VERSIONS,
    kind="ProductionStackCluster",
    type=ProductionStackCluster,
    affects=affects_nothing,
    tracks_deletions=False,
)
