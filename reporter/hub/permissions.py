"""
The permissions of the hub: in its own namespace, but for the reviews of who reads the status.
"""

from collections.abc import Collection, Mapping

from reporter.controller.permissions import (
    LEASE_GROUP,
    READ_VERBS,
    election_permissions,
    reader_review_permissions,
)
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS
from reporter.kube.access_review import Permission
from reporter.model.fleet_status import Engage
from reporter.settings import Settings, StatusAuthorization


def needed_permissions(settings: Settings) -> Mapping[Permission, Collection[str]]:
    """Return the permissions that a hub with these settings needs, each with what needs it."""
    namespace, kind = settings.lease_namespace, PRODUCTION_STACK_CLUSTERS
    needed: dict[Permission, Collection[str]] = {}
    if settings.hub_engage is Engage.LISTED:
        for verb in READ_VERBS:
            needed[Permission(verb, kind.group, kind.resource, namespace)] = [
                "every cluster: which ones to answer for is not known"
            ]
        status = Permission("patch", kind.group, f"{kind.resource}/status", namespace)
        needed[status] = ["none: the status of objects is not written"]
    if settings.leader_elect:
        lease = Permission("get", LEASE_GROUP, "leases", namespace, settings.leader_election_id)
        for permission in election_permissions(lease):
            needed[permission] = ["every cluster: this process cannot lead"]
    if settings.status_authorization is StatusAuthorization.KUBERNETES:
        for permission in reader_review_permissions():
            needed[permission] = ["none: the status is shown to nobody"]
    return needed
