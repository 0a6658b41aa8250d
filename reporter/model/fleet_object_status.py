"""
The status of a ProductionStackCluster as the hub writes it; its CRD is made from these structs.

A key with its default value is left out.
"""

from typing import Annotated

from msgspec import Meta, field

from reporter.model.fleet_status import FleetBlocking, FleetPackage
from reporter.model.object_status import ExpirationTime, ObjectCondition, SetCounts
from reporter.model.states import State
from reporter.model.status_document import Replicas
from reporter.model.status_struct import StatusStruct, Time


MAX_PACKAGES = 20


class ClusterObjectStatus(StatusStruct, frozen=True, kw_only=True):
    """
    The answer to a ProductionStackCluster.

    `observedGeneration` is -1 until the hub has seen the object.
    """

    observed_generation: Annotated[
        int, Meta(description="Generation of the object that the status is about.")
    ]
    state: Annotated[State, Meta(description="State of the control plane of the cluster.")]
    last_known: Annotated[
        State | None, Meta(description="The state before it became Unknown, if one was known.")
    ] = None
    conditions: Annotated[
        tuple[ObjectCondition, ...],
        Meta(
            description="Ready, Reconciling and Stalled, as kstatus reads them, and Observed: the state of"
            " each part of the rest of the cluster is known, too."
        ),
    ]
    blocking: Annotated[
        FleetBlocking | None, Meta(description="What keeps it from being Current.")
    ] = None
    cluster_uid: Annotated[
        str, Meta(description="UID of the namespace kube-system of the cluster.")
    ] = field(default="", name="clusterUID")
    reporter_version: Annotated[str, Meta(description="Version of its reporter.")] = ""
    inference_sets: Annotated[
        SetCounts | None, Meta(description="Numbers of InferenceSets by state.")
    ] = None
    replicas: Annotated[Replicas | None, Meta(description="Sums over the InferenceSets.")] = None
    namespaces_not_current: Annotated[
        int, Meta(description="Workload namespaces that are known not to be Current.")
    ] = 0
    packages: Annotated[
        tuple[FleetPackage, ...],
        Meta(description="Workload namespaces by package, revision and state; at most 20."),
    ] = ()
    clock_skewed: Annotated[
        bool, Meta(description="The cluster's clock seems to differ by more than a minute.")
    ] = False
    reported_timestamp_seconds: Annotated[
        float | None,
        Meta(description="Unix time of the evaluation that the cluster reported last."),
    ] = None
    last_evaluation_time: Annotated[
        Time | None,
        Meta(
            description="Time of an answer of the metrics engine in which the cluster had reported"
            " anew; of an Unknown one, of any answer. Renewed every five minutes, less often beyond"
            " 1,500 objects. An older time: the hub does not run, or the engine does not answer."
        ),
    ] = None
    expiration_time: ExpirationTime = None
