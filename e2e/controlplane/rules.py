"""The RBAC rules that grant the permissions the program needs, computed from its catalogue."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from e2e.controlplane.manifests import Json
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.controller.permissions import required_permissions
from reporter.evaluation.registry import SPECS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.access_review import Permission
from reporter.model.enums import DetailSource
from reporter.settings import FLAG_NAMES, ScrapeMode


LEASES = "leases"


def needed(
    *,
    sources: Collection[DetailSource] = (),
    mode: ScrapeMode = ScrapeMode.AUTO,
    lease: tuple[str, str] | None = None,
    status_objects: bool = False,
    mirror: bool = False,
    store: ResourceKind | None = None,
    reviews: bool = False,
    packs: Collection[str] = DEFAULT_PACKS,
) -> frozenset[Permission]:
    """
    Return the permissions that the check at start reviews. *lease*: its namespace and name.

    *store*: the kind in which episodes are kept, of one namespace. *reviews*: of who reads the status.
    """
    return frozenset(
        needed_by(
            sources=sources,
            mode=mode,
            lease=lease,
            status_objects=status_objects,
            mirror=mirror,
            store=store,
            reviews=reviews,
            packs=packs,
        )
    )


def needed_by(
    *,
    sources: Collection[DetailSource] = (),
    mode: ScrapeMode = ScrapeMode.AUTO,
    lease: tuple[str, str] | None = None,
    status_objects: bool = False,
    mirror: bool = False,
    store: ResourceKind | None = None,
    reviews: bool = False,
    packs: Collection[str] = DEFAULT_PACKS,
) -> Mapping[Permission, Collection[str]]:
    """Return the same permissions, each with the reasons that are unknown without it."""
    catalogue = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=tuple(packs))
    named = Permission("", "", LEASES, *lease) if lease is not None else None
    return required_permissions(
        catalogue,
        lease=named,
        sources=sources,
        mode=mode,
        status_objects=status_objects,
        mirror_events=mirror,
        store=store,
        reviews=reviews,
    )


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
