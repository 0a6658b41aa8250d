"""The RBAC rules that grant the permissions the program needs, computed from its catalogue."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from e2e.controlplane.manifests import Json
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.controller.permissions import (
    LEASE_GROUP,
    PermissionNeeds,
    required_permissions,
)
from reporter.evaluation.registry import SPECS
from reporter.kube.access_review import Permission
from reporter.settings import FLAG_NAMES


LEASES = "leases"


def lease(namespace: str, name: str) -> Permission:
    """Return the Lease of an election, as PermissionNeeds names it."""
    return Permission("get", LEASE_GROUP, LEASES, namespace, name)


def needed(
    needs: PermissionNeeds, packs: Collection[str] = DEFAULT_PACKS
) -> frozenset[Permission]:
    """Return the permissions that the check at start reviews."""
    return frozenset(needed_by(needs, packs))


def needed_by(
    needs: PermissionNeeds, packs: Collection[str] = DEFAULT_PACKS
) -> Mapping[Permission, Collection[str]]:
    """Return the same permissions, each with the reasons that are unknown without it."""
    catalogue = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=tuple(packs))
    return required_permissions(catalogue, needs)


def rules(wanted: Iterable[Permission]) -> list[Json]:
    """Return one rule for each resource, or for each that is limited to a name."""
    verbs: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for right in wanted:
        verbs[right.group, right.resource, right.name].add(right.verb)
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": sorted(allowed)}
        | ({"resourceNames": [name]} if name else {})
        for (group, resource, name), allowed in sorted(verbs.items())
    ]
