"""
ProductionStackClusters: people name the clusters that a hub answers for, and the hub writes the answer.
"""

from typing import Annotated

from msgspec import Meta, field

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.status_object import (
    GROUP,
    VERSIONS,
    StatusObject,
    affects_none,
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
    spec: ProductionStackClusterSpec


PRODUCTION_STACK_CLUSTERS = ResourceKind(
    resource="productionstackclusters",
    group=GROUP,
    versions=VERSIONS,
    kind="ProductionStackCluster",
    type=ProductionStackCluster,
    index_keys=no_index_keys,
    affects=affects_none,
    tracks_deletions=False,
)
